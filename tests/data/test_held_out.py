"""Scores of what was kept back, compared with sums over rankings in all orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from pts3h.codes import pack
from pts3h.data.held_out import HeldOutLabels, HeldOutPairs
from pts3h.data.known_pairs import LabelPairs, PairList

BITS = 12


def encoder_of(signs):
    """Positions → packed codes; also notes which positions were asked for."""
    asked = []

    def encode(positions):
        asked.append(np.asarray(positions))
        return pack(signs[positions])

    return encode, asked


def average_precision(distances, relevant):
    """Mean over all orders that sort the distances, ties in every order."""
    values = []
    for order in permutations(range(len(distances))):
        ranked = [distances[place] for place in order]
        if ranked != sorted(ranked):
            continue
        hits = np.array([relevant[place] for place in order], float)
        values.append((np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits).sum() / hits.sum())
    return np.mean(values)


def differing(signs, a, b):
    return int((signs[a] != signs[b]).sum())


def mean_of_rankings(signs, labels, queries, database):
    """The mean average precision of queries that have something to find, themselves left out."""
    found = []
    for query in queries:
        others = [item for item in database if item != query]
        relevant = [labels[query] == labels[item] for item in others]
        if any(relevant):
            found.append(average_precision([differing(signs, query, item) for item in others], relevant))
    return np.mean(found)


@pytest.mark.parametrize("seed", range(3))
def test_labels_score_how_items_kept_back_find_each_other(seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (20, BITS))
    signs[:, 3:] = 1  # few distances, so that there are ties
    queries, database = np.array([3, 4, 9, 10, 15, 17]), np.array([0, 1, 5, 6, 12, 19])
    labels = np.arange(20) % 3
    labels[17] = 3  # has no fellow
    held = HeldOutLabels(queries, labels[queries], database, labels[database])
    encode, asked = encoder_of(signs)
    assert held.score(encode, BITS) == pytest.approx(mean_of_rankings(signs, labels, queries, queries))
    assert {*np.concatenate(asked)} == {*queries}  # what was learned from is not looked at


@pytest.mark.parametrize("seed", range(3))
def test_where_most_have_no_fellow_labels_score_how_they_find_the_others(seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (20, BITS))
    signs[:, 3:] = 1
    queries, database = np.array([4, 9, 17]), np.array([0, 1, 5, 6, 12, 19])
    labels = np.arange(20) % 4
    labels[17] = 5  # has no fellow anywhere
    held = HeldOutLabels(queries, labels[queries], database, labels[database])
    expected = mean_of_rankings(signs, labels, [4, 9], database)
    assert held.score(encoder_of(signs)[0], BITS) == pytest.approx(expected)


def test_labels_without_any_fellow_score_nothing():
    held = HeldOutLabels(np.array([0, 1]), np.array([0, 1]), np.array([2]), np.array([2]))
    assert held.score(encoder_of(np.ones((3, BITS)))[0], BITS) == 0


@pytest.mark.parametrize("seed", range(3))
def test_pairs_score_the_average_precision_of_the_similar_ones(seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (20, BITS))
    signs[:, 3:] = 1
    pairs = np.array([rng.choice(20, 2, replace=False) for _ in range(7)])
    similar = np.array([1, 0, 0, 1, 1, 0, 0], bool)
    encode, _ = encoder_of(signs)
    expected = average_precision([differing(signs, a, b) for a, b in pairs], similar)
    assert HeldOutPairs(pairs, similar).score(encode, BITS) == pytest.approx(expected)


def test_many_pairs_without_ties_score_as_sklearn_says():
    """64 pairs whose distances are 0 to 63."""
    rng = np.random.default_rng(0)
    bits, count = 64, 64
    first = rng.choice([-1.0, 1.0], (count, bits))
    distances = rng.permutation(count)
    second = first.copy()
    for row, distance in enumerate(distances):
        second[row, rng.choice(bits, distance, replace=False)] *= -1
    pairs = np.column_stack([np.arange(count), count + np.arange(count)])
    similar = rng.random(count) < 0.3
    encode, _ = encoder_of(np.concatenate([first, second]))
    expected = average_precision_score(similar, -distances.astype(float))
    assert HeldOutPairs(pairs, similar).score(encode, bits) == pytest.approx(expected)


def by_chance(count, relevant):
    """What random orders score on average."""
    harmonic = sum(1 / rank for rank in range(1, count + 1))
    return (harmonic + (relevant - 1) / (count - 1) * (count - harmonic)) / count


class TestExtremes:
    TRUTH = np.arange(30) % 3
    RIGHT, NOTHING = np.repeat(2.0 * np.eye(3)[TRUTH] - 1, 4, axis=1), np.ones((30, BITS))

    def test_labels(self):
        _, held = LabelPairs(self.TRUTH).hold_out(0.3, np.random.default_rng(0))
        assert held.score(encoder_of(self.RIGHT)[0], BITS) == pytest.approx(1)
        fellows = [(self.TRUTH[held.queries] == self.TRUTH[query]).sum() - 1 for query in held.queries]
        expected = np.mean([by_chance(len(held.queries) - 1, count) for count in fellows if count])
        assert held.score(encoder_of(self.NOTHING)[0], BITS) == pytest.approx(expected)

    def test_pairs(self):
        first, second = np.triu_indices(30, 1)
        known = PairList(30, np.column_stack([first, second, self.TRUTH[first] == self.TRUTH[second]]))
        _, held = known.hold_out(0.3, np.random.default_rng(0))
        assert held.score(encoder_of(self.RIGHT)[0], BITS) == pytest.approx(1)
        expected = by_chance(len(held.pairs), int(held.similar.sum()))
        assert held.score(encoder_of(self.NOTHING)[0], BITS) == pytest.approx(expected)
