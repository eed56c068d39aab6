"""SPLH against numpy's eigenvectors."""

import numpy as np
import pytest

from pts3h.data.known_pairs import LabelPairs
from pts3h.systems.shallow.signed_pairs import signed_pairs
from pts3h.systems.shallow.splh import deflate, learn_splh, weigh_violations


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(300, 12)) * np.linspace(1, 3, 12)).astype(np.float32)
    return rows, LabelPairs(np.where(np.arange(300) < 60, np.arange(300) % 3, -1))


@pytest.mark.parametrize("eta", [0.0, 0.1, 1.0])
def test_the_first_bit_is_the_top_eigenvector(data, eta):
    rows, known = data
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    labelled = centred[:60]
    signed = signed_pairs(known).astype(np.float64)
    matrix = centred.T @ centred / 300 + eta * labelled.T @ signed @ labelled / 60
    top = np.linalg.eigh(matrix)[1][:, -1]
    first = learn_splh(rows, rows[:60], signed_pairs(known), 1, eta=eta).projection[:, 0]
    assert abs(first @ top) == pytest.approx(1, abs=1e-4)


def test_without_pairs_it_is_pca(data):
    """Deflation alone: each direction is the next principal one."""
    rows, known = data
    directions = learn_splh(rows, rows[:60], signed_pairs(known), 5, eta=0.0).projection
    principal = np.linalg.eigh(np.cov(rows.T.astype(np.float64)))[1][:, ::-1][:, :5]
    np.testing.assert_allclose(np.abs((directions * principal).sum(axis=0)), 1, atol=1e-4)


def test_only_violated_pairs_change_and_grow():
    signed = signed_pairs(LabelPairs([0, 0, 1]))
    before = signed.copy()
    weigh_violations(signed, np.array([1.0, -2.0, 1.5], np.float32))  # 0 and 1 split, 0 and 2 together
    violated = before * np.outer([1, -2, 1.5], [1, -2, 1.5]) < 0
    assert violated.sum() == 4
    assert (np.abs(signed)[violated] > 1).all() and (np.sign(signed) == before).all()
    np.testing.assert_array_equal(signed[~violated], before[~violated])


def test_deflation_is_that_of_the_items():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(50, 6))
    direction = rng.normal(size=6)
    direction /= np.linalg.norm(direction)
    variance = rows.T @ rows
    deflate(variance, direction)
    left = rows - np.outer(rows @ direction, direction)
    np.testing.assert_allclose(variance, left.T @ left, atol=1e-10)
