"""Distances of pairs against brute force, quantiles and shares against numpy."""

from dataclasses import replace

import numpy as np
import pytest

from pts3h.codes import Layout
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.report import distances as module
from pts3h.report.distances import Distances, nearer, pair_distances, threshold_distance
from tests.pictures import random_pairs
from tests.report.pages import brute_force, coded

KINDS = np.where(np.arange(50) < 40, np.arange(50) % 3, -1)


def by_kind(found):
    return {distances.kind: distances.counts.tolist() for distances in found}


def counts(distances, bits=12):
    return [int((np.asarray(distances) == distance).sum()) for distance in range(bits + 1)]


def test_pairs_of_labels():
    some = coded()
    expected, far = {"alike": [], "not alike": [], "random": []}, brute_force(some.codes, Layout(12))
    for a in range(50):
        for b in range(a):
            expected["random"].append(far[a, b])
            if KINDS[a] >= 0 and KINDS[b] >= 0:
                expected["alike" if KINDS[a] == KINDS[b] else "not alike"].append(far[a, b])
    found = pair_distances(some, LabelPairs(KINDS), np.random.default_rng(0))
    assert by_kind(found) == {kind: counts(values) for kind, values in expected.items()}


def test_only_learned_bits_count():
    """The look of an item says nothing of the pairs that are known."""
    some = coded(layout=Layout(12, 9, 3))
    learned = coded(layout=Layout(12))
    learned = replace(learned, codes=np.packbits(np.unpackbits(some.codes, axis=1, count=12), axis=1))
    found, expected = (
        by_kind(pair_distances(one, LabelPairs(KINDS), np.random.default_rng(0))) for one in (some, learned)
    )
    assert found == expected and len(found["random"]) == 13


def test_pairs_one_by_one():
    pairs = random_pairs(np.arange(50) % 3, 70)
    some, known = coded(), PairList(50, pairs)
    far = brute_force(some.codes, Layout(12))
    found = by_kind(pair_distances(some, known, np.random.default_rng(0)))
    for kind, similar in (("alike", 1), ("not alike", 0)):
        assert found[kind] == counts([far[a, b] for a, b, s in pairs if s == similar])


def test_a_part_of_the_items():
    """Known pairs count among the rows for them, random ones among the rows drawn by chance."""
    some = coded(chance=np.arange(0, 50, 5), pairs=np.arange(20))
    found = by_kind(pair_distances(some, LabelPairs(KINDS), np.random.default_rng(0)))
    assert sum(found["random"]) == 10 * 9 / 2
    assert sum(found["alike"]) + sum(found["not alike"]) == 20 * 19 / 2


def test_nothing_known():
    assert [found.kind for found in pair_distances(coded(), None, np.random.default_rng(0))] == ["random"]


def test_one_item_makes_no_pair():
    assert pair_distances(coded(1), None, np.random.default_rng(0)) == []


def test_many_items_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "MOST_ITEMS", 20)
    (found,) = pair_distances(coded(), None, np.random.default_rng(0))
    assert found.pairs == 20 * 19 / 2
    (again,) = pair_distances(coded(), None, np.random.default_rng(0))
    assert (found.counts == again.counts).all()


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_and_shares(seed):
    values = np.random.default_rng(seed).integers(0, 13, 37)
    found = Distances("random", np.bincount(values, minlength=13))
    for share in (0.1, 0.5, 0.9):
        assert found.reached_by(share) == np.quantile(values, share, method="inverted_cdf")
    for limit in (-0.5, 0.0, 3.7, 12.0):
        assert found.share_within(limit) == pytest.approx(np.mean(values <= limit))


def test_how_often_alike_pairs_are_nearer():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, 30), rng.integers(3, 13, 40)
    won = [(x < y) + 0.5 * (x == y) for x in a for y in b]
    alike, other = (
        Distances(kind, np.bincount(values, minlength=13)) for kind, values in (("a", a), ("b", b))
    )
    assert nearer(alike, other) == pytest.approx(np.mean(won))


@pytest.mark.parametrize("distance", [0, 1, 7, 24, 48])
def test_the_threshold_of_codes_at_a_distance(distance):
    """2 cos - 2 of two codes is turned back into how many bits they differ in."""
    a, b = np.ones(48), np.where(np.arange(48) < distance, -1.0, 1.0)
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    assert threshold_distance(2 * cosine - 2, 48) == pytest.approx(distance)
    assert threshold_distance(1e-7, 48) == 0
