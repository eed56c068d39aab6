"""Kernel KSH: the relaxed bit against scipy, the greedy residual, the refinement."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import approx_fprime
from sklearn.metrics.pairwise import rbf_kernel

from pts3h.data.known_pairs import LabelPairs
from pts3h.systems.shallow import ksh_kernel
from pts3h.systems.shallow.ksh_kernel import (
    RIDGE,
    best_bit,
    build_kernel,
    learn_ksh_kernel,
    refine,
    signs,
    top_direction,
)
from pts3h.systems.shallow.signed_pairs import Residual, signed_pairs

KINDS = np.arange(90) % 3


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return (np.eye(3, 10)[KINDS] + rng.normal(size=(90, 10))).astype(np.float32)


def test_the_kernel_is_sklearns_centred(table):
    kernel = build_kernel(table, 20, seed=0)
    distances = np.linalg.norm(table[:, None] - kernel.anchors[None], axis=2)
    assert kernel.width == pytest.approx(distances.mean(), rel=1e-4)
    plain = rbf_kernel(table, kernel.anchors, gamma=1 / (2 * kernel.width**2))
    np.testing.assert_allclose(kernel(table), plain - plain.mean(axis=0), atol=1e-5)


def test_the_relaxed_bit_is_the_generalised_eigenvector(table):
    signed = signed_pairs(LabelPairs(KINDS))
    rows = table.astype(np.float64)
    gram = rows.T @ rows
    gram += RIDGE * np.trace(gram) / 10 * np.eye(10)
    top = eigh(rows.T @ signed @ rows, gram)[1][:, -1]
    found = top_direction(table, signed)
    assert abs(found @ top) == pytest.approx(np.linalg.norm(found) * np.linalg.norm(top), rel=1e-5)


def test_the_loss_falls_with_every_bit(table):
    residual = Residual(signed_pairs(LabelPairs(KINDS)), 8)
    losses = [residual.loss]
    for _ in range(8):
        best_bit(table, residual)
        losses.append(residual.loss)
    assert all(later < earlier for earlier, later in pairwise(losses))


def test_refinement_is_kept_only_where_it_serves(table, monkeypatch):
    def bit_with(refined):
        monkeypatch.setattr(ksh_kernel, "refine", lambda weights, *_: refined(weights))
        return best_bit(table, Residual(signed_pairs(LabelPairs(KINDS)), 8))

    relaxed = top_direction(table, signed_pairs(LabelPairs(KINDS)) * 8)
    worse = np.random.default_rng(1).normal(size=10)
    np.testing.assert_allclose(bit_with(lambda weights: worse), relaxed, rtol=1e-4)


def test_refinement_climbs_the_smooth_objective(table):
    signed = signed_pairs(LabelPairs(KINDS))
    start = top_direction(table, signed)

    def height(weights):
        smooth = np.tanh(table @ weights / 2)
        return smooth @ signed @ smooth / 1000

    refined = refine(start, table, signed)
    assert height(refined) > height(start)
    assert np.abs(approx_fprime(refined, height)).max() < np.abs(approx_fprime(start, height)).max()


def test_refinement_finds_the_peak_of_one_weight():
    column = np.array([[1.0], [0.2]], np.float32)  # the first sign wins before the second one costs
    liked = np.diag(np.array([1, -1], np.float32))

    def height(weight):
        smooth = np.tanh(column[:, 0] * weight / 2)
        return smooth @ liked @ smooth

    peak = max((height(weight), weight) for weight in np.linspace(0, 50, 5001))
    assert 1 < peak[1] < 49
    reached = height(refine(np.array([0.1]), column, liked)[0])
    assert reached == pytest.approx(peak[0], rel=0.02)  # it ends early


def test_nothing_left_to_gain(table):
    start = np.ones(10)
    np.testing.assert_array_equal(refine(start, table, np.zeros((90, 90), np.float32)), start)


def test_fewer_labelled_items_than_anchors(table):
    coder = learn_ksh_kernel(table, table[:9], signed_pairs(LabelPairs(KINDS[:9])), 6, seed=0, anchors=60)
    assert np.isfinite(coder(table)).all()


def test_signs():
    np.testing.assert_array_equal(signs(np.array([-0.1, 0.0, 2.0])), [-1, 1, 1])
