"""Known pairs as a signed matrix, and its residual."""

import numpy as np
import pytest

from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.systems.shallow.signed_pairs import Residual, signed_pairs


def test_from_labels():
    signed = signed_pairs(LabelPairs([0, -1, 1, 0]))
    np.testing.assert_array_equal(signed, [[1, -1, 1], [-1, 1, -1], [1, -1, 1]])


def test_from_several_flags_an_item():
    signed = signed_pairs(LabelPairs([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    np.testing.assert_array_equal(signed, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])


def test_from_pairs():
    signed = signed_pairs(PairList(9, [[2, 5, 1], [5, 7, 0]]))
    np.testing.assert_array_equal(signed, [[1, 1, 0], [1, 1, -1], [0, -1, 1]])


@pytest.mark.parametrize("pairs", [False, True])
def test_the_residual_is_what_the_ksh_loss_has_left(pairs):
    rng = np.random.default_rng(0)
    signed = signed_pairs(LabelPairs(rng.integers(0, 3, 12))).astype(np.float64)
    if pairs:
        hidden = np.triu(rng.random((12, 12)) < 0.5, 1)
        signed[hidden | hidden.T] = 0
    codes = rng.choice([-1.0, 1.0], (12, 4))
    residual = Residual(signed.astype(np.float32), 4)
    for bit in codes.T:
        residual.take(bit)
    expected = np.where(signed != 0, 4 * signed - codes @ codes.T, 0)
    np.testing.assert_allclose(residual.matrix, expected)
    assert residual.loss == pytest.approx(np.square(expected).sum())
    assert residual.gain(codes[:, 0]) == pytest.approx(codes[:, 0] @ expected @ codes[:, 0])
