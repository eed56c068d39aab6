"""Many items with one code: memory is bounded by what is asked for, and answers are those of brute force."""

import tracemalloc

import numpy as np
import pytest

from pts3h.codes import Layout
from pts3h.index import open_index
from pts3h.index.local import multi_index, segment
from pts3h.index.local.segment import build
from pts3h.kernel import columns_of

from ..oracle import Oracle, as_pairs, random_codes

N = 90_000


def equal_codes(n, distinct=1):
    codes = random_codes(np.random.default_rng(0), distinct, 64)
    return np.resize(codes, (n, 8))


def segment_of(codes):
    return build(Layout(64), "int", np.arange(len(codes)), codes, np.ones(len(codes), bool))


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("distinct", [1, 3])
@pytest.mark.parametrize("share", [None, 0.5])
def test_memory_grows_with_k_not_with_duplicates(distinct, share):
    codes = equal_codes(N, distinct)
    made = segment_of(codes)
    allowed = None if share is None else np.random.default_rng(1).random(N) < share
    queries = codes[:100]
    made.nearest(queries[:1], 1, allowed, "both")  # tables and masks are made once
    assert peak_of(lambda: made.nearest(queries, 1, allowed, "both")) < 1_000_000
    few = peak_of(lambda: made.nearest(queries, 50, allowed, "both"))
    many = peak_of(lambda: made.nearest(queries, 5_000, allowed, "both"))
    assert few < 2_000_000 and many < 150 * 5_000 * len(queries)


def test_memory_for_ties_of_many_codes_is_bounded(monkeypatch):
    """All codes at one distance: each query finds all of them, and needs the first few rows only."""
    ones = np.packbits(np.eye(64, dtype=np.uint8), axis=1)
    codes = np.repeat(ones, 1_000, axis=0)[np.random.default_rng(2).permutation(64_000)]
    monkeypatch.setattr(segment, "EXPANDED", 10_000)
    monkeypatch.setattr(segment, "FOUND_BYTES", 100_000)
    made, queries = segment_of(codes), np.zeros((1_000, 8), np.uint8)
    made.nearest(queries[:1], 1, None, "both")
    assert peak_of(lambda: made.nearest(queries, 100, None, "both")) < 8_000_000
    found = made.nearest(queries, 100, None, "both")
    assert found.counts.tolist() == [100] * 1_000
    np.testing.assert_array_equal(found.rows.reshape(1_000, 100), np.tile(np.arange(100), (1_000, 1)))


@pytest.mark.parametrize("expanded", [1, 7, 50, 10**6])
@pytest.mark.parametrize("found_bytes", [1, 10**8])
def test_answers_do_not_depend_on_the_size_of_parts(tmp_path, monkeypatch, expanded, found_bytes):
    monkeypatch.setattr(segment, "SMALLEST_WITH_DUPLICATES", 1)
    monkeypatch.setattr(segment, "WORTHWHILE", 1.0)
    monkeypatch.setattr(segment, "EXPANDED", expanded)
    monkeypatch.setattr(segment, "FOUND_BYTES", found_bytes)
    rng = np.random.default_rng(3)
    codes = np.resize(random_codes(rng, 12, 16), (150, 2))
    metas = [{"even": n % 2 == 0} for n in range(150)]
    oracle = Oracle()
    oracle.add(range(150), codes, metas)
    queries = random_codes(rng, 9, 16)
    with open_index(tmp_path / "index", 16) as index:
        index.add(range(150), codes, metas)
        for where in (None, {"even": True}, {"even": 3}):
            for k in (1, 4, 30, 200):
                assert as_pairs(index.search(queries, k, where)) == oracle.search(queries, k, where)
            for radius in (0, 6, 16):
                found = index.within(queries, radius, where)
                assert as_pairs(found) == oracle.within(queries, radius, where)
        assert index.search(queries[:0], 3) == []


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("few", [10**6, 0])
def test_the_nearest_within_a_radius_by_lookups(tmp_path, monkeypatch, distinct, few):
    """What lookups find, or a scan where a lookup would take too much, is what brute force finds."""
    native = pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)
    monkeypatch.setattr(native, "SCANNED_PER_LOOKED_AT", 1)
    monkeypatch.setattr(segment, "SMALLEST_WITH_DUPLICATES", 1)
    monkeypatch.setattr(segment, "WORTHWHILE", 1.0 if distinct else -1.0)
    monkeypatch.setattr(multi_index, "SMALLEST", 1)
    monkeypatch.setattr(multi_index, "MOST_LOOKUPS", 1e9)
    monkeypatch.setattr(multi_index, "FEW_ROWS", few)
    monkeypatch.setattr(
        multi_index.RadiusSearch, "_race", lambda self, *given: self._by_lookups.add(given[1])
    )
    look_up, found_some = multi_index.RadiusSearch.few_within, []

    def few_within(*given):
        found_some.append(found := look_up(*given))
        return found

    monkeypatch.setattr(multi_index.RadiusSearch, "few_within", few_within)
    rng = np.random.default_rng(3)
    codes = np.resize(random_codes(rng, 70, 32, 0.1), (150, 4))
    metas = [{"even": n % 2 == 0} for n in range(150)]
    oracle = Oracle()
    oracle.add(range(150), codes, metas)
    queries = codes[:9]
    with open_index(tmp_path / "index", 32) as index:
        index.add(range(150), codes, metas)
        for where in (None, {"even": True}, {"even": 3}):
            for radius in (0, 3, 5):
                near = oracle.within(queries, radius, where)
                for k in (1, 4, 200, 10**30):
                    found = index.search(queries, k, where, radius=radius)
                    assert as_pairs(found) == [hits[:k] for hits in near]
    assert any(found is not None for found in found_some) == (few > 0)


@pytest.mark.parametrize("k", [2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30])
def test_any_k_is_a_number_of_items(tmp_path, monkeypatch, k):
    codes = np.resize(random_codes(np.random.default_rng(4), 5, 64), (40, 8))
    for smallest in (1, 10_000):
        monkeypatch.setattr(segment, "SMALLEST_WITH_DUPLICATES", smallest)
        with open_index(tmp_path / f"index {smallest}", 64) as index:
            index.add(range(40), codes)
            oracle = Oracle()
            oracle.add(range(40), codes)
            assert as_pairs(index.search(codes[:2], k)) == oracle.search(codes[:2], 40)


@pytest.mark.parametrize("bits", [12, 64, 100])
@pytest.mark.parametrize("distinct", [1, 50, 5_000, 10**9])
@pytest.mark.parametrize("most", [0.0, 0.9])
def test_the_share_of_distinct_codes(bits, distinct, most, monkeypatch):
    """Of many rows a part of the codes tells about as much as all of them."""
    monkeypatch.setattr(segment, "MANY", 10_000)
    rng = np.random.default_rng(0)
    pool = random_codes(rng, min(distinct, 40_000), bits)
    codes = pool[rng.integers(len(pool), size=40_000)] if distinct < 40_000 else pool
    codes[rng.random(len(codes)) < most] = pool[0]
    truth = len(np.unique(codes, axis=0)) / len(codes)
    assert segment._share_distinct(columns_of(codes)) == pytest.approx(truth, rel=0.3, abs=0.002)
