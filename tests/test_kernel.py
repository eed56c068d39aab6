"""The compiled kernel at every instruction set, and the fallback, against distances counted bit by bit."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pts3h import kernel
from pts3h.codes import Layout, as_words
from pts3h.errors import UserError
from pts3h.kernel import fallback
from pts3h.kernel.measure import measure
from pts3h.kernel.types import Relevance

WIDTHS = (1, 7, 12, 32, 48, 63, 64, 65, 100, 128, 256, 1000, 4096)

native = pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)
LEVELS = native.levels()


def make(rng, n, bits, spread=0.5):
    return np.packbits((rng.random((1, bits)) < 0.5) ^ (rng.random((n, bits)) < spread), axis=-1)


def oracle_distances(queries, codes):
    return np.unpackbits(queries[:, None] ^ codes[None], axis=-1).sum(-1, dtype=np.int64)


def oracle_nearest(near, k, allowed=None):
    rows = np.arange(near.shape[1]) if allowed is None else np.flatnonzero(allowed)
    return [[(int(d[r]), int(r)) for r in sorted(rows, key=lambda r: (d[r], r))[:k]] for d in near]


def oracle_within(near, radius, allowed=None):
    rows = np.arange(near.shape[1]) if allowed is None else np.flatnonzero(allowed)
    return [sorted((int(d[r]), int(r)) for r in rows if d[r] <= radius) for d in near]


def as_pairs(found):
    return [list(zip(near.tolist(), rows.tolist(), strict=True)) for rows, near in found.split()]


def plain(bits):
    """Every bit counts one."""
    return measure(Layout(bits))[1]


def engines():
    for level in LEVELS:
        yield (
            lambda bits, *a, level=level: native.nearest(plain(bits), *a, using=level),
            lambda bits, *a, level=level: native.within(plain(bits), *a, using=level),
        )
    yield (
        lambda bits, *a: fallback.nearest(plain(bits), *a),
        lambda bits, *a: fallback.within(plain(bits), *a),
    )


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("spread", [0.5, 0.02])
def test_nearest_and_within(bits, spread):
    rng = np.random.default_rng(bits)
    codes, queries = make(rng, 700, bits, spread), make(rng, 5, bits, spread)
    queries[:2] = codes[[3, 699]]
    near = oracle_distances(queries, codes)
    columns, words = kernel.columns_of(codes), as_words(queries)
    allowed = rng.random(700) < 0.3
    for nearest, within in engines():
        for mask in (None, allowed, np.zeros(700, bool)):
            for k in (1, 10, 699, 5000):
                assert as_pairs(nearest(bits, words, columns, k, mask, None)) == oracle_nearest(near, k, mask)
            for radius in {0, min(2, bits), bits // 3, bits}:
                found = within(bits, words, columns, radius, mask)
                assert as_pairs(found) == oracle_within(near, radius, mask)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 31, 32, 33, 255, 257, 2047, 2048, 2049, 5000])
def test_every_length_has_a_right_tail(n):
    rng = np.random.default_rng(n)
    codes, queries = make(rng, n, 64), make(rng, 3, 64)
    near = oracle_distances(queries, codes)
    for nearest, within in engines():
        columns, words = kernel.columns_of(codes), as_words(queries)
        assert as_pairs(nearest(64, words, columns, 7, None, None)) == oracle_nearest(near, 7)
        assert as_pairs(within(64, words, columns, 30, None)) == oracle_within(near, 30)


def test_codes_that_come_nearer_row_by_row_fill_and_empty_the_candidates_often():
    """The worst order for a falling limit: every row beats all rows before it."""
    codes = np.packbits(np.tri(4097, 4096, -1, dtype=bool)[::-1], axis=-1)
    query = np.zeros((1, 512), np.uint8)
    columns = kernel.columns_of(codes)
    for level in LEVELS:
        found = native.nearest(plain(4096), as_words(query), columns, 3, None, None, level)
        assert as_pairs(found) == [[(0, 4096), (1, 4095), (2, 4094)]]


@pytest.mark.parametrize("bits", [12, 64, 100])
def test_weights_return_every_row_up_to_the_last_distance(bits):
    rng = np.random.default_rng(bits)
    codes, queries = make(rng, 600, bits), make(rng, 4, bits)
    weights = rng.integers(0, 5, 600).astype(np.uint32)
    near = oracle_distances(queries, codes)
    for nearest, _ in engines():
        for k in (1, 17, 100, 10**6):
            found = as_pairs(nearest(bits, as_words(queries), kernel.columns_of(codes), k, None, weights))
            for row, pairs in zip(near, found, strict=True):
                sums = [int(weights[row <= d].sum()) for d in range(bits + 1)]
                last = next((d for d, total in enumerate(sums) if total >= k), bits)
                assert pairs == sorted((int(d), r) for r, d in enumerate(row) if d <= last)


def test_work_split_over_threads_gives_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    codes, queries = make(rng, 3000, 48, 0.1), make(rng, 7, 48, 0.1)
    columns = kernel.columns_of(codes)
    near = oracle_distances(queries, codes)
    monkeypatch.setattr(native, "WORDS_PER_THREAD", 100)
    monkeypatch.setattr(native, "threads", lambda: 3)
    for some in (1, 2, 7):  # few queries are split by rows, many by queries
        words = as_words(queries[:some])
        found = native.nearest(plain(48), words, columns, 20, None, None)
        assert as_pairs(found) == oracle_nearest(near[:some], 20)
        assert as_pairs(native.within(plain(48), words, columns, 3, None)) == oracle_within(near[:some], 3)
    monkeypatch.setattr(native, "CANDIDATE_BYTES", 5000)
    found = native.nearest(plain(48), as_words(queries), columns, 20, None, None)
    assert as_pairs(found) == oracle_nearest(near, 20)


@pytest.mark.parametrize("bits", [12, 48, 64, 100, 256])
@pytest.mark.parametrize("radius", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("scanned", [1, 16, 10**6])
def test_lookup_by_parts_finds_what_a_scan_finds(bits, radius, scanned, monkeypatch):
    monkeypatch.setattr(native, "SCANNED_PER_LOOKED_AT", scanned)  # lookups only, either, scans only
    rng = np.random.default_rng(bits)
    codes = make(rng, 2000, bits)
    codes[1000:] = codes[:1000] ^ np.packbits(rng.random((1000, bits)) < 2 / bits, axis=-1)
    columns = kernel.columns_of(codes)
    queries = as_words(codes[::97])
    width = min(6, bits // 3)
    parts = [
        (native.group(columns, first, width), radius // 3 - (number > radius % 3))
        for number, first in enumerate(range(0, 3 * (bits // 3), bits // 3))
    ]
    parts = [(part, budget) for part, budget in parts if budget >= 0]
    allowed = rng.random(2000) < 0.5
    for mask in (None, allowed):
        found = native.look_up(plain(bits), queries, columns, radius, parts, mask)
        assert as_pairs(found) == as_pairs(native.within(plain(bits), queries, columns, radius, mask))


def relevance_cases(rng, q, n):
    mine, others = rng.integers(0, 4, q), rng.integers(0, 4, n)
    masks = rng.integers(0, 2**63, (q, 2), np.uint64) & rng.integers(0, 2**63, (q, 2), np.uint64)
    other_masks = rng.integers(0, 16, (n, 2), np.uint64) << np.uint64(7)
    common = ((masks[:, None] & other_masks[None]) != 0).any(-1)
    matrix = rng.random((q, n)) < 0.1
    classes, other_classes = (rng.random((rows, 70)) < 0.1 for rows in (q, n))
    yield {"labels": (classes, other_classes.astype(int))}, (classes[:, None] & other_classes[None]).any(-1)
    yield {"labels": (mine, others)}, mine[:, None] == others[None]
    yield {"labels": (masks, other_masks)}, common
    yield {"relevant": matrix}, matrix


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("native_kernel", [True, False])
def test_histograms(bits, native_kernel, monkeypatch):
    monkeypatch.setattr(kernel, "compiled", lambda: native_kernel)
    rng = np.random.default_rng(bits)
    codes, queries = make(rng, 301, bits), make(rng, 6, bits)
    near = oracle_distances(queries, codes)
    for given_relevance, truth in relevance_cases(rng, 6, 301):
        everything, relevant = kernel.histograms(queries, codes, Layout(bits), **given_relevance)
        for query in range(6):
            np.testing.assert_array_equal(everything[query], np.bincount(near[query], minlength=bits + 1))
            np.testing.assert_array_equal(
                relevant[query], np.bincount(near[query][truth[query]], minlength=bits + 1)
            )


@pytest.mark.parametrize("level", LEVELS)
def test_histograms_at_every_level(level):
    rng = np.random.default_rng(1)
    codes, queries = make(rng, 5000, 100), make(rng, 3, 100)
    relevance = Relevance(1, np.array([[0, 0], [17, 4900], [0, 5000]]), None)
    counts = native.histograms(plain(100), as_words(queries), kernel.columns_of(codes), relevance, level)
    np.testing.assert_array_equal(
        counts, fallback.histograms(plain(100), as_words(queries), kernel.columns_of(codes), relevance)
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 300), st.integers(0, 80), st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_any_shape(bits, n, k, seed):
    rng = np.random.default_rng(seed)
    codes, queries = make(rng, n, bits, rng.random()), make(rng, 3, bits)
    near = oracle_distances(queries, codes)
    radius = int(rng.integers(0, bits + 1))
    for nearest, within in engines():
        columns, words = kernel.columns_of(codes), as_words(queries)
        assert as_pairs(nearest(bits, words, columns, k, None, None)) == oracle_nearest(near, k)
        assert as_pairs(within(bits, words, columns, radius, None)) == oracle_within(near, radius)


@pytest.mark.parametrize("bits", [12, 48, 64, 100, 256])
def test_fallback_with_faiss_is_the_same_as_with_numpy(bits, monkeypatch):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(bits)
    codes, queries = make(rng, 500, bits, 0.1), make(rng, 6, bits, 0.1)
    columns, words = kernel.columns_of(codes), as_words(queries)
    near = oracle_distances(queries, codes)
    allowed = rng.random(500) < 0.5
    monkeypatch.setattr(fallback, "FAISS_FROM", 0)
    for mask in (None, allowed):
        for k in (1, 50, 1000):
            found = fallback.nearest(plain(bits), words, columns, k, mask, None)
            assert as_pairs(found) == oracle_nearest(near, k, mask)
        for radius in (0, bits // 4, bits):
            found = fallback.within(plain(bits), words, columns, radius, mask)
            assert as_pairs(found) == oracle_within(near, radius, mask)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either relevant= or labels="),
        ({"relevant": np.ones((2, 3), bool), "labels": ([1, 1], [1, 1, 1])}, "either relevant= or labels="),
        ({"relevant": np.ones((3, 2), bool)}, "boolean matrix"),
        ({"relevant": np.ones((2, 3))}, "boolean matrix"),
        ({"labels": ([1, 1], [1, 1])}, "2 queries and 3 items"),
        ({"labels": ([0.5, 1], [1, 1, 1])}, "whole numbers"),
        ({"labels": (np.ones((2, 4)), np.ones((3, 4)))}, "whole numbers"),
        ({"labels": (np.ones((2, 4), int), np.ones((3, 5), int))}, "2 queries and 3 items"),
    ],
)
def test_wrong_relevance_is_named(arguments, message):
    with pytest.raises(UserError, match=message):
        kernel.histograms(np.zeros((2, 8), np.uint8), np.zeros((3, 8), np.uint8), Layout(64), **arguments)


def test_the_environment_chooses():
    code = (
        "import sys; from pts3h import kernel\n"
        "print(kernel.compiled(), 'faiss' in sys.modules, 'torch' in sys.modules)\n"
        "if kernel.compiled():\n"
        "    from pts3h.kernel import native; print(native.level(), native.threads())"
    )

    def run(**environment):
        command, env = [sys.executable, "-c", code], {**os.environ, "PTS3H_NO_KERNEL": "", **environment}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert run(PTS3H_NO_KERNEL="1") == "False False False\n"
    assert run(PTS3H_KERNEL_LEVEL="portable", PTS3H_THREADS="3") == "True False False\nportable 3\n"
    assert run(PTS3H_KERNEL_LEVEL="nonsense").splitlines()[1].startswith(LEVELS[0])


def test_a_level_this_processor_lacks_is_refused():
    with pytest.raises(ValueError, match="no kernel level"):
        native.nearest(
            plain(64), np.zeros((1, 1), np.uint64), np.zeros((1, 3), np.uint64), 1, None, None, "avx9000"
        )
