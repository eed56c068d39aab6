"""Codes of two parts: every instruction set and the fallback, against distances counted bit by bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pts3h import kernel
from pts3h.codes import Layout, as_words
from pts3h.kernel import fallback
from pts3h.kernel.measure import measure

from .test_kernel import (
    LEVELS,
    as_pairs,
    make,
    native,
    oracle_nearest,
    oracle_within,
    relevance_cases,
)

# Boundaries between words, between bytes, inside of a byte; parts of less than a byte and of many words.
LAYOUTS = [
    Layout(32, 32, 3),
    Layout(64, 32, 2),
    Layout(48, 48, 4),
    Layout(48, 32, 15),
    Layout(12, 20, 3),
    Layout(12, 20, 16),
    Layout(64, 64, 16),
    Layout(1, 1, 2),
    Layout(3, 200, 7),
    Layout(200, 3, 7),
    Layout(128, 128, 1),
    Layout(1000, 999, 5),
    Layout(65, 63, 3),
    Layout(2000, 48, 15),
]


def kinds(layout):
    return ["meaning", "both", *(["look"] if layout.look else [])]


def oracle_distances(queries, codes, layout, by):
    """Distances from unpacked bits, each times what it counts."""
    a, b = (np.unpackbits(some, axis=1, count=layout.bits) for some in (queries, codes))
    meaning = np.arange(layout.bits) < layout.meaning
    counts = {
        "meaning": np.where(meaning, 1, 0),
        "look": np.where(meaning, 0, 1),
        "both": np.where(meaning, layout.weight, 1),
    }
    return (a[:, None] != b[None]) @ counts[by]


def engines(how):
    for level in LEVELS:
        yield (
            lambda *a, level=level: native.nearest(how, *a, using=level),
            lambda *a, level=level: native.within(how, *a, using=level),
        )
    yield (lambda *a: fallback.nearest(how, *a)), (lambda *a: fallback.within(how, *a))


def check(layout, rng, n, k, spread=0.5):
    """Nearest and within, with all rows, some and none, against the oracle, by everything that there is."""
    codes, queries = make(rng, n, layout.bits, spread), make(rng, 3, layout.bits, spread)
    codes[n // 2 :] = codes[: n - n // 2]  # duplicates
    allowed = rng.random(n) < 0.4
    for by in kinds(layout):
        near = oracle_distances(queries, codes, layout, by)
        needed, how = measure(layout, by)
        words = np.ascontiguousarray(as_words(queries)[:, needed])
        columns = kernel.columns_of(codes)[needed]
        radius = int(rng.integers(0, layout.farthest(by) + 1))
        for nearest, within in engines(how):
            for mask in (None, allowed):
                assert as_pairs(nearest(words, columns, k, mask, None)) == oracle_nearest(near, k, mask)
                assert as_pairs(within(words, columns, radius, mask)) == oracle_within(near, radius, mask)
            everything = within(words, columns, layout.farthest(by), None)
            assert as_pairs(everything) == oracle_within(near, layout.farthest(by))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("spread", [0.5, 0.02])
def test_nearest_and_within(layout, spread):
    check(layout, np.random.default_rng(layout.bits), 300, 20, spread)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(1, 200),
    st.integers(0, 200),
    st.integers(1, 16),
    st.integers(2, 150),
    st.integers(1, 90),
    st.integers(0, 2**32 - 1),
)
def test_any_layout(meaning, look, weight, n, k, seed):
    check(Layout(meaning, look, weight), np.random.default_rng(seed), n, k)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_rows_that_stand_for_several_items(layout):
    rng = np.random.default_rng(0)
    codes, queries = make(rng, 200, layout.bits), make(rng, 3, layout.bits)
    items = rng.integers(0, 5, 200).astype(np.uint32)
    near = oracle_distances(queries, codes, layout, "both")
    how = measure(layout)[1]
    for nearest, _ in engines(how):
        found = as_pairs(nearest(as_words(queries), kernel.columns_of(codes), 50, None, items))
        for row, pairs in zip(near, found, strict=True):
            last = next(d for d in np.unique(row) if items[row <= d].sum() >= 50)
            assert pairs == sorted((int(d), r) for r, d in enumerate(row) if d <= last)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("native_kernel", [True, False])
def test_histograms(layout, native_kernel, monkeypatch):
    monkeypatch.setattr(kernel, "compiled", lambda: native_kernel)
    rng = np.random.default_rng(1)
    codes, queries = make(rng, 301, layout.bits), make(rng, 4, layout.bits)
    for by in kinds(layout):
        near, bins = oracle_distances(queries, codes, layout, by), layout.farthest(by) + 1
        for given_relevance, truth in relevance_cases(rng, 4, 301):
            everything, relevant = kernel.histograms(queries, codes, layout, by=by, **given_relevance)
            for query in range(4):
                np.testing.assert_array_equal(everything[query], np.bincount(near[query], minlength=bins))
                np.testing.assert_array_equal(
                    relevant[query], np.bincount(near[query][truth[query]], minlength=bins)
                )


@pytest.mark.parametrize("scanned", [1, 10**6])
@pytest.mark.parametrize("layout", [Layout(32, 32, 3), Layout(48, 100, 2), Layout(64, 64, 4)], ids=str)
@pytest.mark.parametrize("by", ["meaning", "look", "both"])
def test_lookups_find_what_a_scan_finds(layout, by, scanned, monkeypatch):
    monkeypatch.setattr(native, "SCANNED_PER_LOOKED_AT", scanned)
    rng = np.random.default_rng(2)
    codes = make(rng, 2000, layout.bits)
    codes[1000:] = codes[:1000] ^ np.packbits(rng.random((1000, layout.bits)) < 0.03, axis=-1)
    queries, columns = codes[::97], kernel.columns_of(codes)
    near = oracle_distances(queries, codes, layout, by)
    first = layout.meaning if by == "look" else 0
    for bits in range(4):  # that differ in the part which is looked at
        radius = bits if by != "both" else layout.weight * bits + layout.weight - 1
        parts = [(kernel.group(columns, first + 8 * part, 8), 0) for part in range(bits + 1)]
        for mask in (None, rng.random(2000) < 0.5):
            found = kernel.look_up(layout, queries, columns, radius, parts, by=by, allowed=mask)
            assert as_pairs(found) == oracle_within(near, radius, mask)


def test_only_the_words_that_are_needed_are_read():
    cut = {by: measure(Layout(64, 128, 3), by) for by in ("meaning", "look", "both")}
    assert [cut[by][0] for by in cut] == [slice(0, 1), slice(1, 3), slice(0, 3)]
    assert [how.plain for _, how in cut.values()] == [True, True, False]
    assert measure(Layout(48, 48, 3), "meaning")[0] == slice(0, 1)
    assert measure(Layout(100, 28, 3), "look")[0] == slice(1, 2)
    assert measure(Layout(100, 28, 1))[1].plain and measure(Layout(100))[1].plain
