"""Exact search by distance at full speed: the k nearest, everything within a radius, histograms for metrics.

One small C extension does the work, with the widest instructions the processor has. If it is not compiled,
or if ``PTS3H_NO_KERNEL`` is set, faiss or numpy gives the same answers.
"""

import os
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codes import By, Codes, Layout, as_words, check_codes
from ..errors import UserError
from . import fallback
from .measure import WORD, Measure, measure
from .types import Allowed, Columns, Found, GroupedRows, Parts, Queries, Relevance, Weights

__all__ = [
    "Columns",
    "Found",
    "GroupedRows",
    "columns_of",
    "compiled",
    "group",
    "histograms",
    "look_up",
    "nearest",
    "within",
]

MOST_ITEMS = 2**62  # more than rows can stand for; a larger k is as good as this


@cache
def compiled() -> bool:
    """Whether the C extension is compiled, and not switched off."""
    if os.environ.get("PTS3H_NO_KERNEL", "") not in ("", "0"):
        return False
    try:
        from . import native  # noqa: F401
    except ImportError:
        return False
    return True


def columns_of(codes: Codes) -> Columns:
    """Packed codes (n, bytes) as the columns (words, n) that the kernel scans."""
    return np.ascontiguousarray(as_words(codes).T)


def _cut(layout: Layout, by: By, words: Queries, columns: Columns) -> tuple[Measure, Queries, Columns]:
    """How a distance is measured, and the words of queries and rows that it needs."""
    needed, how = measure(layout, by)
    return how, np.ascontiguousarray(words[:, needed]), columns[needed]


def nearest(
    layout: Layout,
    queries: Codes,
    columns: Columns,
    k: int,
    *,
    by: By = "both",
    allowed: Allowed | None = None,
    weights: Weights | None = None,
) -> Found:
    """The k nearest rows of each query by (distance, row), or all rows if there are fewer.

    Args:
        layout: what the bits of the codes are.
        queries: (q, bytes) packed codes.
        columns: (words, n), see :func:`columns_of`.
        k: how many to find.
        by: which bits count.
        allowed: (n,) which rows count.
        weights: (n,) how many items each row stands for. Then all rows are returned up to the smallest
            distance at which their weights add up to k, so that the caller can break ties among the items.
    """
    k = min(k, columns.shape[1] if weights is None else MOST_ITEMS)
    how, words, columns = _cut(layout, by, as_words(queries), columns)
    if compiled():
        from . import native

        return native.nearest(how, words, columns, k, allowed, weights)
    return fallback.nearest(how, words, columns, k, allowed, weights)


def within(
    layout: Layout,
    queries: Codes,
    columns: Columns,
    radius: int,
    *,
    by: By = "both",
    allowed: Allowed | None = None,
) -> Found:
    """All rows within ``radius`` of each query, by (distance, row). See :func:`nearest`."""
    how, words, columns = _cut(layout, by, as_words(queries), columns)
    if compiled():
        from . import native

        return native.within(how, words, columns, radius, allowed)
    return fallback.within(how, words, columns, radius, allowed)


def group(columns: Columns, first: int, width: int) -> GroupedRows:
    """All rows grouped by ``width`` of their bits, starting at bit ``first``. Needs the compiled kernel."""
    from . import native

    return native.group(columns, first, width)


def look_up(
    layout: Layout,
    queries: Codes,
    columns: Columns,
    radius: int,
    parts: Parts,
    *,
    by: By = "both",
    allowed: Allowed | None = None,
    most: int | None = None,
) -> Found | None:
    """What :func:`within` finds, by multi-index hashing. Needs the compiled kernel.

    Args:
        layout: what the bits of the codes are.
        queries: (q, bytes) packed codes.
        columns: (words, n).
        radius: largest distance.
        parts: groups to search, each with how many of its bits may differ.
        by: which bits count.
        allowed: (n,) which rows count, or None.
        most: rows that a query may look at, so that memory is bounded. None is returned where it would have
            to look at more; without a bound, it scans.
    """
    from . import native

    how, words, columns = _cut(layout, by, as_words(queries), columns)
    if left_out := WORD * measure(layout, by)[0].start:
        parts = [(part._replace(first=part.first - left_out), budget) for part, budget in parts]
    return native.look_up(how, words, columns, radius, parts, allowed, most)


def histograms(
    queries: ArrayLike,
    database: ArrayLike,
    layout: Layout,
    *,
    by: By = "both",
    relevant: ArrayLike | None = None,
    labels: tuple[ArrayLike, ArrayLike] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each query, how many items, and how many relevant ones, there are at each distance.

    Give either ``relevant`` or ``labels``; with labels, no q x n matrix is ever built.

    Args:
        queries: (q, bytes) packed codes.
        database: (n, bytes) packed codes.
        layout: what the bits of the codes are.
        by: which of them count.
        relevant: (q, n) booleans.
        labels: of queries and database: whole numbers (q,) and (n,), where equal is relevant; or rows of 0/1
            (q, classes) and (n, classes), where a common class is relevant; or such rows as uint64 masks.

    Returns:
        all items (q, distances) and relevant items (q, distances), from 0 to the largest distance.
    """
    query_codes, codes = check_codes(queries, layout.bits), check_codes(database, layout.bits)
    if query_codes.ndim != 2 or codes.ndim != 2:
        raise UserError(f"codes must be (n, bytes), got shapes {query_codes.shape} and {codes.shape}")
    relevance, order = _relevance(len(query_codes), len(codes), relevant, labels)
    columns = columns_of(codes if order is None else codes[order])
    how, words, columns = _cut(layout, by, as_words(query_codes), columns)
    if compiled():
        from . import native

        counts = native.histograms(how, words, columns, relevance)
    else:
        counts = fallback.histograms(how, words, columns, relevance)
    return counts.sum(axis=1), counts[:, 1]


def _relevance(
    q: int, n: int, relevant: ArrayLike | None, labels: tuple[ArrayLike, ArrayLike] | None
) -> tuple[Relevance, NDArray[np.int64] | None]:
    """What is relevant, and the order in which the database must be for that, or None if any will do."""
    if (relevant is None) == (labels is None):
        raise UserError("say what is relevant: give either relevant= or labels=")
    if labels is None:
        matrix = np.asarray(relevant)
        if matrix.shape != (q, n) or matrix.dtype != np.bool_:
            raise UserError(f"relevant must be a boolean matrix {(q, n)}, got {matrix.dtype} {matrix.shape}")
        return Relevance(0, np.ascontiguousarray(matrix).view(np.uint8), None), None
    mine, others = (np.asarray(part) for part in labels)
    if len(mine.shape) not in (1, 2) or mine.shape[:1] != (q,) or others.shape != (n, *mine.shape[1:]):
        shapes = f"{mine.shape} and {others.shape}"
        raise UserError(f"labels must be for {q} queries and {n} items, got shapes {shapes}")
    if mine.dtype.kind not in "iub" or others.dtype.kind not in "iub":
        raise UserError(f"labels must be whole numbers, got {mine.dtype} and {others.dtype}")
    if mine.ndim == 2:
        if mine.dtype != np.uint64 or others.dtype != np.uint64:
            mine, others = (as_words(np.packbits(rows > 0, axis=1)) for rows in (mine, others))
        return Relevance(2, np.ascontiguousarray(mine), np.ascontiguousarray(others)), None
    # With rows sorted by label, what is relevant to a query is one range, and no two labels are compared.
    order = np.argsort(others, kind="stable")
    ends = [np.searchsorted(others[order], mine, side) for side in ("left", "right")]
    return Relevance(1, np.stack(ends, axis=1).astype(np.int64), None), order
