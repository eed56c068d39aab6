"""HNSW by choice: approximate answers where it was asked for, exact ones everywhere else."""

import numpy as np
import pytest

from ..oracle import Oracle, as_pairs, assert_same, random_codes
from .checks import name_of, refused

pytestmark = pytest.mark.postgres

N = 3000


def make_poor_graph(postgres, address, column="meaning"):
    """An index that misses many hits, so that it shows where it is used."""
    made = f"CREATE INDEX ON {name_of(address)} USING hnsw ({column} bit_hamming_ops)"
    postgres.sql(f"{made} WITH (m = 2, ef_construction = 4)")


@pytest.fixture
def filled(postgres):
    """An address with items in clusters, the oracle of them, and queries."""

    def fill(bits, look=0, weight=3):
        address = postgres.address()
        rng = np.random.default_rng(bits)
        centres = random_codes(rng, 60, bits + look)
        codes = centres[rng.integers(0, 60, N)] ^ np.packbits(rng.random((N, bits + look)) < 0.1, axis=1)
        metas = [{"n": number % 50} for number in range(N)]
        oracle = Oracle(bits if look else None, weight)
        oracle.add(range(N), codes, metas)
        with postgres.open(address, bits=bits, look_bits=look, weight=weight) as index:
            index.add(range(N), codes, metas)
        return address, oracle, codes[:10]

    return fill


def recall(found, expected):
    """Share of hits that are as near as the exact ones; ties count, whichever comes."""
    near = [
        sum(distance <= exact[-1][0] for distance in hits.distances)
        for hits, exact in zip(found, expected, strict=True)
    ]
    return sum(near) / sum(map(len, expected))


def test_without_an_index_the_statement_is_named_and_works(postgres, filled):
    for look, vector in ((0, '"meaning"'), (16, r'"meaning" \|\| "meaning" \|\| "meaning" \|\| "look"')):
        address, oracle, queries = filled(32, look)
        message = refused(
            f"has no HNSW index; add items, run CREATE INDEX .*{vector}",
            lambda a=address: postgres.open(a, ef_search=100),
        )
        postgres.sql(message.partition("run ")[2].partition(", and open")[0])
        with postgres.open(address, ef_search=100) as index:
            assert recall(index.search(queries, 10), oracle.search(queries, 10)) > 0.9
    refused("has no HNSW index", lambda: postgres.open(postgres.address(), bits=64, ef_search=100))


def test_exact_is_exact_beside_an_index(postgres, filled):
    address, oracle, queries = filled(32)
    make_poor_graph(postgres, address)
    with postgres.open(address) as index:
        assert_same(index, oracle, queries[:2], 32)
        assert_same(index, oracle, queries[:2], 32, {"n": {"<": 25}})


def test_a_poor_graph_is_told_from_a_good_one(postgres, filled):
    """So that the tests around it could fail: with one candidate in such a graph, hits are missed."""
    address, oracle, queries = filled(64)
    make_poor_graph(postgres, address)
    with postgres.open(address, ef_search=1) as index:
        found, expected = index.search(queries, 10), oracle.search(queries, 10)
        assert recall(found, expected) < 1
        for hits in found:  # they are real items at their real distances, in order
            pairs = list(zip(hits.distances, hits.ids, strict=True))
            assert len(pairs) == 10 and pairs == sorted(pairs)
        for query, hits in zip(queries, found, strict=True):
            ranked = {one: distance for distance, one in oracle.ranked(query)}
            assert [ranked[one] for one in hits.ids] == hits.distances


def test_there_are_k_hits_whatever_the_filter_leaves(postgres, filled):
    address, oracle, queries = filled(32)
    postgres.sql(f"CREATE INDEX ON {name_of(address)} USING hnsw (meaning bit_hamming_ops)")
    with postgres.open(address, ef_search=10) as index:
        for where, k in (({"n": 7}, 10), ({"n": 7}, 100), ({"n": -1}, 10), (None, 2000), (None, N + 5)):
            found, expected = index.search(queries, k, where), oracle.search(queries, k, where)
            assert [len(hits) for hits in found] == [len(hits) for hits in expected]
            if k > len(expected[0]):  # all there are
                assert as_pairs(found) == expected


def test_radius_stays_exact(postgres, filled):
    address, oracle, queries = filled(32)
    postgres.sql(f"CREATE INDEX ON {name_of(address)} USING hnsw (meaning bit_hamming_ops)")
    with postgres.open(address, ef_search=10) as index:
        assert as_pairs(index.within(queries, 8)) == oracle.within(queries, 8)


def test_only_the_distance_of_the_index_is_approximate(postgres, filled):
    address, oracle, queries = filled(32, 16)
    make_poor_graph(postgres, address, "look")
    with postgres.open(address, ef_search=1) as index:
        for by in ("both", "meaning"):
            assert as_pairs(index.search(queries, 10, by=by)) == oracle.search(queries, 10, by=by)
        found, expected = index.search(queries, 10, by="look"), oracle.search(queries, 10, by="look")
        assert recall(found, expected) < 1
