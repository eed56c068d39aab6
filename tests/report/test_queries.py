"""Chance queries and what they find, against a sort of all distances."""

import numpy as np

from pts3h.codes import Layout
from pts3h.data.known_pairs import PairList
from pts3h.report.queries import HITS, chance_queries
from tests.report.pages import brute_force, coded


def check(some, queries):
    far = brute_force(some.codes, some.layout)
    row_of = {position: row for row, position in enumerate(some.positions.tolist())}
    for query in queries:
        row = row_of[query.position]
        order = [other for other in np.lexsort((np.arange(len(far)), far[row])) if other != row]
        expected = [(int(some.positions[other]), int(far[row, other])) for other in order[:HITS]]
        assert [(hit.position, hit.distance) for hit in query.hits] == expected
        last = expected[-1][1]
        assert query.as_near == sum(far[row, other] <= last for other in order) - len(expected)


def test_the_nearest_others():
    some = coded(80)
    queries = chance_queries(some, None, 5, np.random.default_rng(0))
    assert len({query.position for query in queries}) == 5
    check(some, queries)


def test_both_parts_of_the_codes_count():
    some = coded(80, Layout(7, 6, 3))
    check(some, chance_queries(some, None, 80, np.random.default_rng(0)))


def test_more_equal_codes_than_hits():
    """The query itself is behind those that come before it, and still not among its hits."""
    some = coded(60, Layout(2))
    queries = chance_queries(some, None, 60, np.random.default_rng(0))
    check(some, queries)
    assert all(query.position not in {hit.position for hit in query.hits} for query in queries)
    assert any(query.as_near > 0 for query in queries)


def test_few_items():
    some = coded(3)
    check(some, chance_queries(some, None, 8, np.random.default_rng(0)))
    (alone,) = chance_queries(coded(1), None, 8, np.random.default_rng(0))
    assert (alone.hits, alone.as_near) == ([], 0)


def test_only_chance_rows_are_queries():
    some = coded(50, chance=np.arange(30, 50))
    queries = chance_queries(some, None, 20, np.random.default_rng(0))
    assert [query.position for query in queries] == list(range(30, 50))
    check(some, queries)


def test_what_is_known_of_a_hit():
    known = PairList(6, [(0, 1, 1), (0, 2, 0), (3, 4, 1)])
    (query, *_) = chance_queries(coded(6), known, 6, np.random.default_rng(0))
    assert query.position == 0
    assert {hit.position: hit.alike for hit in query.hits} == {1: True, 2: False, 3: None, 4: None, 5: None}


def test_the_seed_decides():
    drawn = [
        [query.position for query in chance_queries(coded(), None, 5, np.random.default_rng(seed))]
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
