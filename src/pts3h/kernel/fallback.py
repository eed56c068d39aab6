"""The kernel's work when it is not compiled: faiss if it is installed, else numpy. Same answers, slower."""

import importlib.util
import weakref
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measure import Measure
from .types import Allowed, Columns, Distances, Found, Queries, Relevance, Rows, Weights

# The distances of a block of queries to all rows take at most this many bytes.
BLOCK_BYTES = 64 * 2**20
# With fewer words to compare than this, numpy is done before faiss has copied the codes.
FAISS_FROM = 200_000
MOST_KEPT = 2
_kept: list[tuple[weakref.ref[Columns], Any]] = []


@cache
def has_faiss() -> bool:
    """Whether faiss can be imported."""
    return importlib.util.find_spec("faiss") is not None


def distances(how: Measure, queries: Queries, columns: Columns) -> Distances:
    """(q, n) distances."""
    total = np.zeros((len(queries), columns.shape[1]), np.uint16)
    for word, (column, mask) in enumerate(zip(columns, how.masks, strict=True)):
        differ = queries[:, word, None] ^ column[None, :]
        if how.plain:
            total += np.bitwise_count(differ)
        else:
            total += np.uint16(how.first) * np.bitwise_count(differ & mask)
            total += np.uint16(how.second) * np.bitwise_count(differ & ~mask)
    return total


def _blocks(queries: Queries, columns: Columns) -> list[Queries]:
    size = max(1, BLOCK_BYTES // (12 * max(1, columns.shape[1])))
    return [queries[start : start + size] for start in range(0, len(queries), size)]


def _join(found: list[tuple[Rows, Distances]]) -> Found:
    if not found:
        return Found.nothing(0)
    counts = np.array([len(rows) for rows, _ in found], np.int64)
    return Found(counts, np.concatenate([r for r, _ in found]), np.concatenate([d for _, d in found]))


def _ordered(rows: NDArray[Any], near: Distances, k: int | None = None) -> tuple[Rows, Distances]:
    order = np.lexsort((rows, near))[:k]
    return rows[order].astype(np.uint32), near[order].astype(np.uint16)


def nearest(
    how: Measure, queries: Queries, columns: Columns, k: int, allowed: Allowed | None, weights: Weights | None
) -> Found:
    """See :func:`pts3h.kernel.nearest`."""
    kept = np.arange(columns.shape[1]) if allowed is None else np.flatnonzero(allowed)
    if len(kept) == 0 or k == 0:
        return Found.nothing(len(queries))
    columns = columns if allowed is None else columns[:, kept]
    if weights is None and how.plain and has_faiss() and len(queries) * columns.size >= FAISS_FROM:
        local = _nearest_faiss(queries, columns, min(k, len(kept)))
        return _join([(kept[rows].astype(np.uint32), near) for rows, near in local])
    found = []
    for block in _blocks(queries, columns):
        for near in distances(how, block, columns):
            counts = np.bincount(near, None if weights is None else weights[kept], minlength=how.largest + 1)
            last = min(int(np.searchsorted(np.cumsum(counts), k)), how.largest)
            rows = np.flatnonzero(near <= last)
            found.append(_ordered(kept[rows], near[rows], k if weights is None else None))
    return _join(found)


def within(how: Measure, queries: Queries, columns: Columns, radius: int, allowed: Allowed | None) -> Found:
    """See :func:`pts3h.kernel.within`."""
    kept = np.arange(columns.shape[1]) if allowed is None else np.flatnonzero(allowed)
    if len(kept) == 0:
        return Found.nothing(len(queries))
    columns = columns if allowed is None else columns[:, kept]
    if how.plain and has_faiss() and len(queries) * columns.size >= FAISS_FROM:
        local = _within_faiss(_faiss_index(columns), queries, radius)
        return _join([(kept[rows].astype(np.uint32), near) for rows, near in local])
    found = []
    for block in _blocks(queries, columns):
        for near in distances(how, block, columns):
            rows = np.flatnonzero(near <= radius)
            found.append(_ordered(kept[rows], near[rows]))
    return _join(found)


def histograms(how: Measure, queries: Queries, columns: Columns, relevance: Relevance) -> NDArray[np.int64]:
    """(q, 2, largest + 1): how many irrelevant and relevant rows each query has at each distance."""
    bins = how.largest + 1
    out = np.zeros((len(queries), 2, bins), np.int64)
    for query in range(len(queries)):
        near = distances(how, queries[query : query + 1], columns)[0].astype(np.int64)
        mine: Any = relevance.of_queries[query]
        others: Any = relevance.of_rows
        if relevance.kind == 1:
            near[mine[0] : mine[1]] += bins
        else:
            near += bins * (mine != 0 if relevance.kind == 0 else (others & mine).any(axis=1))
        out[query] = np.bincount(near, minlength=2 * bins).reshape(2, bins)
    return out


def _faiss_rows(codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """(n, words) as bytes, padded to 64, 128 or a multiple of 256 bits: faiss is slow at other widths."""
    words = codes.shape[1]
    padded = words if words <= 2 else -(-words // 4) * 4
    out = np.zeros((len(codes), padded), np.uint64)
    out[:, :words] = codes
    return out.view(np.uint8)


def _faiss_index(columns: Columns) -> Any:
    """A faiss index of these codes; the last few are kept for as long as their codes exist."""
    import faiss

    _kept[:] = [entry for entry in _kept if entry[0]() is not None]
    for reference, index in _kept:
        if reference() is columns:
            return index
    rows = _faiss_rows(columns.T)
    index = faiss.IndexBinaryFlat(rows.shape[1] * 8)
    index.add(rows)
    _kept.append((weakref.ref(columns), index))
    del _kept[:-MOST_KEPT]
    return index


def _within_faiss(index: Any, queries: Queries, radius: int) -> list[tuple[Rows, Distances]]:
    edges, near, rows = index.range_search(_faiss_rows(queries), radius + 1)  # its radius is exclusive
    return [_ordered(rows[a:b], near[a:b]) for a, b in pairwise(edges)]


def _nearest_faiss(queries: Queries, columns: Columns, k: int) -> list[tuple[Rows, Distances]]:
    """faiss promises no order among ties: take only the k-th distance from it, then all rows up to there."""
    index = _faiss_index(columns)
    last = index.search(_faiss_rows(queries), k)[0][:, -1]
    found: list[tuple[Rows, Distances]] = [(np.empty(0, np.uint32), np.empty(0, np.uint16))] * len(queries)
    for radius in np.unique(last).tolist():
        these = np.flatnonzero(last == radius)
        near = _within_faiss(index, queries[these], radius)
        for query, (rows, distance) in zip(these.tolist(), near, strict=True):
            found[query] = rows[:k], distance[:k]
    return found
