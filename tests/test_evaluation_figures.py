"""Metrics of several queries, the figures that tables show, and what is refused."""

import numpy as np
import pytest

from pts3h import UserError, evaluate
from pts3h.codes import DEFAULT_WEIGHT

from .rankings import BITS, QUERY, argsort_loop, codes_at, labelled_codes, two_parts


def test_the_figures_of_most_tables():
    queries, database, yq, yd = labelled_codes()
    distances = (np.unpackbits(queries, axis=1)[:, None] != np.unpackbits(database, axis=1)[None]).sum(axis=2)
    relevant = yq[:, None] == yd[None]
    report = evaluate(queries, database, labels=(yq, yd), bits=16, order="stable")
    inside = distances <= 2
    within = ((inside & relevant).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)).mean()
    everything, _ = argsort_loop(queries, database, relevant, 500)
    at_seven, _ = argsort_loop(queries, database, relevant, 7)
    _, at_hundred = argsort_loop(queries, database, relevant, 100)
    expected = {"map": everything, "precision_within_2": within, "precision_at_100": at_hundred}
    assert report.summary() == pytest.approx(expected), "500 items have no 1,000 ranks"
    assert report.summary(map_at=7) == pytest.approx(expected | {"map_at_7": at_seven})
    assert report.precision_within() == pytest.approx(within), "2 unless someone says otherwise"


@pytest.mark.parametrize(("count", "names"), [(99, 0), (100, 1), (999, 1), (1000, 2)])
def test_precision_at_ranks_that_there_are(count, names):
    report = evaluate(QUERY, codes_at([1] * count), np.ones((1, count), bool), bits=BITS)
    expected = ["precision_at_100", "precision_at_1000"][:names]
    assert [name for name in report.summary() if "_at_" in name] == expected
    assert all(report.summary()[name] == pytest.approx(1) for name in expected)


@pytest.mark.parametrize("order", ["expected", "stable", "optimistic", "pessimistic"])
def test_several_queries_are_averaged(order):
    """Every figure of a set is the mean of the figures of its queries; one has nothing to find."""
    queries, database, yq, yd = labelled_codes()
    relevant = yq[:5, None] == yd[None]
    relevant[2] = False
    whole = evaluate(queries[:5], database, relevant, bits=16, order=order)
    each = [evaluate(queries[[n]], database, relevant[[n]], bits=16, order=order) for n in range(5)]
    for figure in (
        lambda report: report.map,
        lambda report: report.map_at(30),
        lambda report: report.precision_within(5),
        lambda report: report.precision_at([1, 30, 450]),
        lambda report: report.recall_at([1, 30, 450]),
        lambda report: report.pr_curve()[0],
    ):
        np.testing.assert_allclose(figure(whole), np.mean([figure(one) for one in each], axis=0), atol=1e-12)
    assert whole.recall_at(500)[0] == pytest.approx(4 / 5)
    assert whole.average_precisions().shape == (5,)


def test_the_curve_of_one_query_with_one_relevant_item():
    recall, precision = evaluate(QUERY, codes_at([1, 1, 2]), np.array([[0, 1, 0]]), bits=BITS).pr_curve()
    assert recall.tolist() == [0, 1, 1, 1]
    assert precision.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 3])


def test_ranks_beyond_the_last_find_nothing_more():
    report = evaluate(QUERY, codes_at([0, 1, 1]), np.array([[1, 0, 1]]), bits=BITS)
    assert report.map_at(3) == report.map_at(4) == report.map_at(999) == report.map
    assert report.precision_at(6)[0] == pytest.approx(2 / 6)
    assert report.recall_at(6)[0] == 1


def test_a_radius_is_not_negative():
    report = evaluate(QUERY, codes_at([0, 1]), np.array([[1, 0]]), bits=BITS)
    assert report.precision_within(0) == 1
    with pytest.raises(UserError, match="a radius is 0 or more, got -1"):
        report.precision_within(-1)


@pytest.mark.parametrize(("queries", "database"), [(0, 2), (1, 0)])
def test_nothing_to_evaluate(queries, database):
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(UserError, match="needs codes of queries and of a database"):
        evaluate(codes[:queries], codes[:database], np.ones((queries, database), bool), bits=BITS)


@pytest.mark.parametrize("place", [0, 1])
def test_one_code_is_no_set_of_codes(place):
    codes = [np.zeros((2, 1), np.uint8), np.zeros((2, 1), np.uint8)]
    codes[place] = codes[place][0]
    with pytest.raises(UserError, match="needs codes of queries and of a database"):
        evaluate(*codes, np.ones((2, 2), bool), bits=BITS)


def test_relevance_as_zeros_and_ones_and_labels_of_any_kind():
    codes = codes_at([0, 1, 2])
    wanted = evaluate(QUERY, codes, np.array([[False, True, False]]), bits=BITS).map
    for kind in (np.int64, np.uint8, np.int8):
        assert evaluate(QUERY, codes, np.array([[0, 1, 0]], kind), bits=BITS).map == wanted
    for order in ("expected", "stable"):
        flags = evaluate(
            QUERY,
            codes,
            labels=(np.array([[1, 0, 1]]), np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0]])),
            bits=BITS,
            order=order,
        )
        assert flags.map == wanted, "one class in common is enough"
    with pytest.raises(UserError, match="matrix of booleans, got <U1"):
        evaluate(QUERY, codes, np.array([["1", "0", "0"]]), bits=BITS)
    with pytest.raises(UserError, match="negative"):
        evaluate(QUERY, codes, labels=([-1], [0, 1, 2]), bits=BITS)
    with pytest.raises(UserError, match="negative"):
        evaluate(QUERY, codes, labels=([0], [0.0, 1.0, -1.0]), bits=BITS)


def test_the_default_weight_of_a_meaning_bit():
    """It is the one that new indexes have."""
    queries, database, yq, yd, _ = two_parts(12, 20, 2)
    default = evaluate(queries, database, labels=(yq, yd), bits=12, look_bits=20)
    assert default.items.shape[1] == DEFAULT_WEIGHT * 12 + 20 + 1
