"""Bits that tell items from each other, and that copies of a picture share with it."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pts3h.unsupervised.itq import learn_itq
from pts3h.unsupervised.linear import principal_directions
from pts3h.unsupervised.steady import learn_steady_bits

COUNT, WIDTH, COPIES = 600, 24, 3
NO_COPIES = np.empty((0, 0, WIDTH), np.float32)


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
    plain, steady = learn_itq(pictures[0], 8, 0), learn_steady_bits(*pictures, 8, 0)
    (plain_own, _), (own, others) = flipped(plain, *pictures), flipped(steady, *pictures)
    assert plain_own > 0.35 and own < 0.2
    assert abs(others - 0.5) < 0.05  # the bits still tell pictures apart


def test_items_of_few_kinds_are_told_apart():
    """Two kinds far apart take all of ITQ's first direction; what differs within a kind is in the others."""
    rng = np.random.default_rng(1)
    kinds = 30 * rng.normal(size=(4, WIDTH))[np.arange(COUNT) % 4]
    features = (kinds + rng.normal(size=(COUNT, WIDTH))).astype(np.float32)
    distinct = [
        len(np.unique(coder(features) >= 0, axis=0))
        for coder in (learn_itq(features, 16, 0), learn_steady_bits(features, NO_COPIES, 16, 0))
    ]
    assert distinct[1] > 0.95 * COUNT
    assert distinct[1] > distinct[0]


def test_its_outputs_are_those_of_the_definition(pictures):
    """float64: (I + N)^-2 of whitened items, rotated; a rotation keeps all distances between outputs."""
    features, copies = (part.astype(np.float64) for part in pictures)
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred.T, bias=True))
    white = vectors / np.sqrt(values)
    difference = ((copies - features[:, None]) @ white).reshape(-1, WIDTH)
    wiener = np.linalg.inv(np.eye(WIDTH) + difference.T @ difference / len(difference))
    filtered = centred @ white @ wiener @ wiener
    found = learn_steady_bits(*pictures, WIDTH, 0)(pictures[0])
    np.testing.assert_allclose(cdist(found, found), cdist(filtered, filtered), rtol=1e-3, atol=1e-3)


def test_a_part_of_the_pictures_may_have_copies(pictures):
    features, copies = pictures
    some = learn_steady_bits(features, copies[:300], 8, 0)
    assert flipped(some, features, copies)[0] < 0.2


def test_copies_that_do_not_differ_leave_all_directions_alike(pictures):
    features = pictures[0]
    coder = learn_steady_bits(features, np.repeat(features[:, None], 2, axis=1), WIDTH, 0)
    np.testing.assert_allclose(np.cov(coder(features).T, bias=True), np.eye(WIDTH), atol=1e-3)


def test_without_copies_narrow_directions_count_little():
    """Noise that is the same in all of them would drown what they say."""
    rng = np.random.default_rng(2)
    width = np.where(np.arange(WIDTH) < 12, 1.0, 1e-2)
    features = (width * rng.normal(size=(COUNT, WIDTH))).astype(np.float32)
    copies = (features + 0.1 * rng.normal(size=features.shape)).astype(np.float32)[:, None]
    own, others = flipped(learn_steady_bits(features, NO_COPIES, 12, 0), features, copies)
    assert own < 0.1 and abs(others - 0.5) < 0.05


@pytest.mark.parametrize("count", [1, 2, 10])
def test_few_items_and_directions_that_nobody_differs_in(count):
    features = np.zeros((count, WIDTH), np.float32)
    features[:, :3] = np.random.default_rng(0).normal(size=(count, 3))
    coder = learn_steady_bits(features, NO_COPIES, 8, 0)
    assert coder.projection.shape == (WIDTH, 8) and np.isfinite(coder.projection).all()
    assert np.abs(coder.projection[3:]).max() < 1e-3  # what is rounding alone is left out


def test_signs_of_directions_do_not_matter(pictures, monkeypatch):
    """Two machines may find the same direction with opposite signs."""
    expected = learn_steady_bits(*pictures, 8, 0).projection

    def turned(covariance, count):
        return principal_directions(covariance, count) * np.where(np.arange(count) % 3, 1, -1)

    monkeypatch.setattr("pts3h.unsupervised.steady.principal_directions", turned)
    np.testing.assert_allclose(learn_steady_bits(*pictures, 8, 0).projection, expected, rtol=1e-6, atol=1e-9)


def test_seeds_rotate(pictures):
    one, again, other = (learn_steady_bits(*pictures, 8, seed).projection for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-3
