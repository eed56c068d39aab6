"""Bits that copies of a picture share with it."""

import numpy as np
import pytest

from pts3h.unsupervised.itq import learn_itq
from pts3h.unsupervised.metric import SHRINK
from pts3h.unsupervised.steady import learn_steady_itq

COUNT, WIDTH, COPIES = 600, 24, 3


@pytest.fixture(scope="module")
def pictures():
    """Features whose widest directions are those in which copies differ: (features, copies)."""
    rng = np.random.default_rng(0)
    loud = np.where(np.arange(WIDTH) < 8, 6.0, 0.3)
    steady = rng.normal(size=(COUNT, WIDTH))
    draws = steady[:, None] + loud * rng.normal(size=(COUNT, 1 + COPIES, WIDTH))
    return draws[:, 0].astype(np.float32), draws[:, 1:].astype(np.float32)


def flipped(coder, features, copies):
    """Share of bits in which a copy differs from its picture, and from other pictures."""
    codes, of_copies = coder(features) >= 0, coder(copies[:, 0]) >= 0
    return (codes != of_copies).mean(), (codes != np.roll(of_copies, 1, axis=0)).mean()


def test_copies_keep_their_bits(pictures):
    plain, steady = learn_itq(pictures[0], 8, 0), learn_steady_itq(*pictures, 8, 0)
    (plain_own, _), (own, others) = flipped(plain, *pictures), flipped(steady, *pictures)
    assert plain_own > 0.35 and own < 0.2
    assert abs(others - 0.5) < 0.05  # the bits still tell pictures apart


def test_the_space_of_its_bits_is_that_of_the_definition(pictures):
    """float64: whiten by differences from copies, then take the widest directions; the rest is a rotation."""
    features, copies = (part.astype(np.float64) for part in pictures)
    difference = (features[:, None] - copies).reshape(-1, WIDTH)
    spread = difference.T @ difference
    spread = (1 - SHRINK) * spread / np.trace(spread) * WIDTH + SHRINK * np.eye(WIDTH)
    values, vectors = np.linalg.eigh(spread)
    white = vectors @ np.diag(values**-0.5) @ vectors.T
    centred = features - features.mean(axis=0)
    _, widest = np.linalg.eigh(white @ np.cov(centred.T, bias=True) @ white)
    expected = np.linalg.qr(white @ widest[:, ::-1][:, :8])[0]
    found = np.linalg.qr(learn_steady_itq(*pictures, 8, 0).projection)[0]
    np.testing.assert_allclose(np.linalg.svd(expected.T @ found)[1], 1, atol=1e-4)  # the same subspace


def test_a_part_of_the_pictures_may_have_copies(pictures):
    features, copies = pictures
    some = learn_steady_itq(features, copies[:300], 8, 0)
    assert flipped(some, features, copies)[0] < 0.2


def test_as_many_bits_as_numbers(pictures):
    assert learn_steady_itq(*pictures, WIDTH, 0).projection.shape == (WIDTH, WIDTH)


def test_copies_that_do_not_differ(pictures):
    """Nothing is learned of them: the bits are those of ITQ."""
    features = pictures[0]
    coder = learn_steady_itq(features, np.repeat(features[:, None], 2, axis=1), 8, 0)
    assert np.isfinite(coder.projection).all()
    spaces = [np.linalg.qr(one.projection)[0] for one in (coder, learn_itq(features, 8, 0))]
    np.testing.assert_allclose(np.linalg.svd(spaces[0].T @ spaces[1])[1], 1, atol=1e-4)
