"""FastH: inference against every possible bit, and trees that repeat what was inferred."""

from itertools import product

import numpy as np
import pytest

from pts3h.data.known_pairs import LabelPairs
from pts3h.systems.shallow.fasth import blocks, flip, infer_bit, learn_fasth
from pts3h.systems.shallow.signed_pairs import Residual, signed_pairs


def gain(bit, residual):
    return bit @ residual @ bit


@pytest.mark.parametrize("seed", range(5))
def test_inference_finds_a_bit_that_no_single_move_improves(seed):
    rng = np.random.default_rng(seed)
    residual = Residual(signed_pairs(LabelPairs(rng.integers(0, 4, 12))), 4)
    residual.take(rng.choice([-1.0, 1.0], 12))
    bit = infer_bit(residual.matrix, seed=(seed,))
    found = gain(bit, residual.matrix)
    for item in range(12):
        moved = bit.copy()
        moved[item] *= -1
        assert gain(moved, residual.matrix) <= found + 1e-4
    best = max(gain(np.array(signs), residual.matrix) for signs in product([-1.0, 1.0], repeat=12))
    assert found >= 0.8 * best


def test_two_classes_are_told_apart_at_once():
    kinds = np.arange(20) % 2
    bit = infer_bit(signed_pairs(LabelPairs(kinds)), seed=(0,))
    assert abs(bit @ np.where(kinds == 0, 1, -1)) == 20


def test_blocks_are_the_classes_and_cover_all():
    found = blocks(signed_pairs(LabelPairs([0, 1, 0, 2, 1])))
    assert [block.tolist() for block in found] == [[0, 2], [1, 4], [3]]


def test_a_flip_is_made_only_where_it_gains():
    rng = np.random.default_rng(0)
    residual = rng.normal(size=(10, 10)).astype(np.float32)
    residual += residual.T
    for _ in range(30):
        bit = rng.choice([-1.0, 1.0], 10).astype(np.float32)
        before, pull = gain(bit, residual), residual @ bit
        flip(rng.choice(10, 3, replace=False), bit, pull, residual)
        assert gain(bit, residual) >= before - 1e-4
        np.testing.assert_allclose(pull, residual @ bit, atol=1e-4)


def test_trees_learn_the_labelled_items_codes():
    rng = np.random.default_rng(0)
    kinds = np.arange(120) % 3
    rows = (np.eye(3, 8)[kinds] * 4 + rng.normal(size=(120, 8))).astype(np.float32)
    outputs = learn_fasth(rows, rows, signed_pairs(LabelPairs(kinds)), 4, seed=0)(rows)
    bits = np.sign(outputs)
    within = np.mean([(bits[kinds == kind] == bits[kind]).mean() for kind in range(3)])
    assert outputs.shape == (120, 4) and within > 0.95
    assert len(np.unique(bits[:3], axis=0)) == 3
