"""The choice of items is greedy facility location, here written out one by one."""

import numpy as np
import pytest

from pts3h.teaching import coverage
from pts3h.teaching.coverage import Coverage


@pytest.fixture
def rows():
    found = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def slow_choice(rows, sharpness, weights, answered, candidates):
    """The candidate after which the sum of items, by weight and nearness to an answer, is largest."""

    def nearness(a, b):
        return max(float(rows[a].astype(np.float64) @ rows[b]), 1e-9) ** sharpness

    def total(chosen):
        return sum(weights[item] * max(nearness(item, one) for one in chosen) for item in range(len(rows)))

    return max(candidates, key=lambda one: total([*answered, one]))


def test_each_choice_says_most(rows):
    cover, chosen, weights = Coverage(rows), [], np.random.default_rng(1).random(60)
    for _ in range(8):
        free = np.array([place for place in range(0, 60, 2) if place not in chosen])
        best = cover.best(free, weights)
        assert best == slow_choice(rows, cover.sharpness, weights, chosen, free.tolist())
        chosen.append(best)
        cover.cover(rows[[best]])
    cover.begin()
    assert cover.best(np.arange(0, 60, 2), weights) == chosen[0]


def test_items_outside_of_the_sample_cover_it(rows):
    one, other = Coverage(rows[:30]), Coverage(rows[:30])
    one.cover(rows[30:40])
    for row in rows[30:40]:
        other.cover(row[None])
    np.testing.assert_allclose(one.covered, other.covered, rtol=1e-5)
    one.cover(rows[:0])
    expected = (rows[:30].astype(np.float64) @ rows[30:40].T).max(axis=1).clip(min=1e-9) ** one.sharpness
    np.testing.assert_allclose(one.covered, expected, rtol=1e-4)


@pytest.mark.parametrize("narrow", [1, 3, 9])
def test_the_reach_does_not_depend_on_the_scale_of_cosines(narrow):
    rows = np.random.default_rng(0).standard_normal((900, 6))
    rows[:, 0] += narrow
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    found = Coverage(rows)
    assert found.nearness.mean() == pytest.approx(coverage.REACH, rel=0.1) or found.sharpness > 60
