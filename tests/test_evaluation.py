"""Metrics against enumeration of every tie order, scikit-learn, and the plain loops of the field."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from pts3h import UserError, evaluate

from .rankings import BITS, QUERY, argsort_loop, codes_at, labelled_codes, two_parts

small_case = st.lists(st.tuples(st.integers(0, BITS), st.booleans()), min_size=1, max_size=6)


def report_of(case, order="expected"):
    distances, relevant = zip(*case, strict=True)
    return evaluate(QUERY, codes_at(distances), np.array([relevant]), bits=BITS, order=order)


def rankings(case):
    """Relevance in rank order, for every order that sorts by distance."""
    for order in permutations(case):
        if all(a[0] <= b[0] for a, b in pairwise(order)):
            yield [relevant for _, relevant in order]


def gain(ranking, k):
    """Sum over relevant ranks of the precision there: AP without its denominator."""
    return sum(sum(ranking[: rank + 1]) / (rank + 1) for rank in range(min(k, len(ranking))) if ranking[rank])


@given(small_case)
@settings(max_examples=300)
def test_expected_average_precision_is_the_mean_over_tie_orders(case):
    expected = np.mean([gain(ranking, len(case)) / max(sum(ranking), 1) for ranking in rankings(case)])
    assert report_of(case).map == pytest.approx(expected, abs=1e-9)


@given(small_case, st.integers(1, 7))
def test_map_at_k_divides_expected_gain_by_expected_hits(case, k):
    everything = list(rankings(case))
    hits = np.mean([sum(ranking[:k]) for ranking in everything])
    expected = np.mean([gain(ranking, k) for ranking in everything]) / hits if hits else 0
    assert report_of(case).map_at(k) == pytest.approx(expected, abs=1e-9)


@given(small_case, st.integers(1, 7))
def test_precision_and_recall_at_k(case, k):
    found = np.mean([sum(ranking[:k]) for ranking in rankings(case)])
    report = report_of(case)
    assert report.precision_at([k])[0] == pytest.approx(found / k, abs=1e-9)
    everything = sum(relevant for _, relevant in case)
    assert report.recall_at(k)[0] == pytest.approx(found / max(everything, 1), abs=1e-9)


@given(small_case, st.integers(1, 7))
def test_bounds_are_the_best_and_worst_order(case, k):
    def average_precision(ranking):
        return gain(ranking, k) / max(sum(ranking[:k]), 1)

    best_first = sorted(case, key=lambda item: (item[0], not item[1]))
    worst_first = sorted(case, key=lambda item: (item[0], item[1]))
    for order, ranked in (("optimistic", best_first), ("pessimistic", worst_first)):
        ranking = [relevant for _, relevant in ranked]
        report = report_of(case, order)
        assert report.map_at(k) == pytest.approx(average_precision(ranking), abs=1e-9)
        assert report.precision_at(k)[0] == pytest.approx(sum(ranking[:k]) / k, abs=1e-9)
    low, middle, high = (report_of(case, order).map for order in ("pessimistic", "expected", "optimistic"))
    assert low <= middle + 1e-9 <= high + 2e-9


@given(small_case)
def test_precision_within_a_radius(case):
    for radius in range(BITS + 1):
        inside = [relevant for distance, relevant in case if distance <= radius]
        expected = np.mean(inside) if inside else 0
        assert report_of(case).precision_within(radius) == pytest.approx(expected, abs=1e-12)


def test_without_ties_it_is_scikit_learns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        distances = rng.permutation(65)
        relevant = rng.random(65) < 0.3
        report = evaluate(codes_at([0], 64), codes_at(distances, 64), relevant[None], bits=64)
        assert report.map == pytest.approx(average_precision_score(relevant, -distances), abs=1e-9)


@pytest.fixture(scope="module")
def random_case():
    return labelled_codes()


@pytest.mark.parametrize("k", [1, 7, 100, 500])
def test_stable_order_equals_a_plain_argsort_loop(random_case, k):
    queries, database, yq, yd = random_case
    report = evaluate(queries, database, labels=(yq, yd), bits=16, order="stable")
    expected_map, expected_precision = argsort_loop(queries, database, yq[:, None] == yd[None], k)
    assert report.map_at(k) == pytest.approx(expected_map, abs=1e-9)
    assert report.precision_at(k)[0] == pytest.approx(expected_precision, abs=1e-9)
    if k == 500:
        assert report.map == report.map_at(500)


def test_a_hit_at_the_first_and_at_the_last_rank_counts():
    codes = codes_at([0, 1, 2])
    first = evaluate(QUERY, codes, np.array([[1, 0, 0]]), bits=BITS)
    last = evaluate(QUERY, codes, np.array([[0, 0, 1]]), bits=BITS)
    assert first.map == 1
    assert last.map == pytest.approx(1 / 3)


def test_labels_and_matrix_agree(random_case):
    queries, database, yq, yd = random_case
    flags_q, flags_d = np.eye(5, dtype=int)[yq], np.eye(5, dtype=int)[yd]
    flags_q[::3, 0] = 1
    by_matrix = evaluate(queries, database, flags_q @ flags_d.T > 0, bits=16)
    by_flags = evaluate(queries, database, labels=(flags_q, flags_d), bits=16)
    assert by_matrix.map == by_flags.map
    assert (
        evaluate(queries, database, yq[:, None] == yd, bits=16).map
        == evaluate(queries, database, labels=(yq, yd), bits=16).map
    )


def test_pr_curve(random_case):
    queries, database, yq, yd = random_case
    recall, precision = evaluate(queries, database, labels=(yq, yd), bits=16).pr_curve()
    distances = (np.unpackbits(queries, axis=1)[:, None] != np.unpackbits(database, axis=1)[None]).sum(axis=2)
    relevant = yq[:, None] == yd[None]
    for radius in (0, 2, 8, 16):
        inside = distances <= radius
        some = inside.any(axis=1)
        found = (inside & relevant).sum(axis=1)
        assert recall[radius] == pytest.approx((found / relevant.sum(axis=1)).mean())
        expected = (found[some] / inside[some].sum(axis=1)).mean() if some.any() else 0
        assert precision[radius] == pytest.approx(expected)


def test_a_query_without_relevant_items_counts_zero():
    assert evaluate(QUERY, codes_at([0, 1]), np.array([[0, 0]]), bits=BITS).map == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"relevant": None}, "say what is relevant"),
        ({"labels": ([0], [1])}, "say what is relevant"),
        ({"relevant": np.ones((1, 3), bool)}, r"boolean matrix \(1, 2\)"),
        ({"relevant": np.ones((1, 2))}, "booleans"),
        ({"bits": 12}, "2 bytes wide"),
        ({"relevant": None, "labels": ([0], [0, -1])}, "negative"),
        ({"order": "lucky"}, "order must be one of"),
    ],
)
def test_bad_input(change, message):
    arguments = {"relevant": np.ones((1, 2), bool), "bits": BITS} | change
    with pytest.raises(UserError, match=message):
        evaluate(QUERY, codes_at([0, 1]), **arguments)


@pytest.mark.parametrize("k", [0, -1])
def test_ranks_start_at_one(k):
    report = evaluate(QUERY, codes_at([0, 1]), np.ones((1, 2), bool), bits=BITS)
    with pytest.raises(UserError, match="1 or more"):
        report.map_at(k)
    with pytest.raises(UserError, match="1 or more"):
        report.precision_at(k)


LAYOUTS = [(16, 16, 3), (12, 20, 2), (64, 32, 4), (5, 60, 16), (8, 8, 1)]


@pytest.mark.parametrize(("meaning", "look", "weight"), LAYOUTS)
def test_two_parts_are_ranked_by_their_distance(meaning, look, weight):
    queries, database, yq, yd, distances = two_parts(meaning, look, weight)
    relevant = yq[:, None] == yd[None]
    for by, near in distances.items():
        layout = {"bits": meaning, "look_bits": look, "weight": weight, "by": by}
        report = evaluate(queries, database, labels=(yq, yd), **layout)
        items = list(zip(near, relevant, strict=True))
        cases = [[(int(d), bool(r)) for d, r in zip(row, flags, strict=True)] for row, flags in items]
        assert report.map == pytest.approx(np.mean([expected_precision(case) for case in cases]), abs=1e-9)
        stable = evaluate(queries, database, relevant, order="stable", **layout)
        ranked = [flags[np.argsort(row, kind="stable")] for row, flags in items]
        assert stable.map == pytest.approx(np.mean([gain(r, 90) / r.sum() for r in ranked]), abs=1e-9)
        for radius in (0, near.min(), int(np.median(near)), near.max()):
            inside = near <= radius
            found = (inside & relevant).sum(1) / np.maximum(inside.sum(1), 1)
            assert report.precision_within(radius) == pytest.approx(found.mean())
        largest = {"meaning": meaning, "look": look, "both": weight * meaning + look}[by]
        assert report.items.shape == report.relevant.shape == (7, largest + 1)


def expected_precision(case):
    """Average precision expected over the orders of ties, rank by rank.

    A relevant item at place t of a group of n with r relevant ones has on average (t - 1) (r - 1) / (n - 1)
    relevant ones of its group before it.
    """
    seen = hits = total = 0.0
    for distance in sorted({d for d, _ in case}):
        flags = [relevant for d, relevant in case if d == distance]
        n, r = len(flags), sum(flags)
        for place in range(1, n + 1):
            inside = (place - 1) * (r - 1) / (n - 1) if n > 1 else 0
            total += r / n * (hits + inside + 1) / (seen + place)
        seen, hits = seen + n, hits + r
    return total / hits


def test_two_parts_without_ties_are_scikit_learns():
    """A weight that no look distance reaches, and looks that all differ: no two items are at one distance."""
    rng = np.random.default_rng(3)
    order = rng.permutation(16 * 4)
    meaning, look = order // 16, order % 16  # distances 0..3 by meaning, 0..15 by look
    bits = np.concatenate([np.arange(3) < meaning[:, None], np.arange(15) < look[:, None]], axis=1)
    relevant = rng.random(64) < 0.3
    query = np.packbits(np.zeros((1, 18), bool), axis=1)
    report = evaluate(query, np.packbits(bits, axis=1), relevant[None], bits=3, look_bits=15, weight=16)
    score = average_precision_score(relevant, -(16.0 * meaning + look))
    assert report.map == pytest.approx(score, abs=1e-9)


def test_no_look_bits_to_evaluate_by():
    with pytest.raises(UserError, match="no look bits"):
        evaluate(QUERY, codes_at([0, 1]), np.ones((1, 2), bool), bits=BITS, by="look")


@pytest.mark.parametrize("order", ["expected", "optimistic", "pessimistic"])
def test_items_among_themselves_do_not_count_themselves(order):
    """As if each were asked alone, and the database held all others."""
    codes, _, labels, _ = labelled_codes()
    among = evaluate(codes, codes, labels=(labels, labels), bits=16, order=order).without_self()
    alone = [
        evaluate(
            codes[one : one + 1],
            np.delete(codes, one, axis=0),
            labels=(labels[one : one + 1], np.delete(labels, one)),
            bits=16,
            order=order,
        )
        for one in range(len(codes))
    ]
    assert among.map == pytest.approx(np.mean([report.map for report in alone]))
    assert among.precision_within(5) == pytest.approx(
        np.mean([report.precision_within(5) for report in alone])
    )


def test_a_stable_order_has_each_beside_itself():
    codes, _, labels, _ = labelled_codes()
    report = evaluate(codes, codes, labels=(labels, labels), bits=16, order="stable")
    with pytest.raises(UserError, match="leave out order"):
        report.without_self()
