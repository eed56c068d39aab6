"""The compiled kernel behind plain numpy arrays, with the work split over threads.

The C functions release the interpreter lock, so ordinary Python threads run them in parallel.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..util.cores import usable_cores
from . import _kernel
from .measure import Measure
from .types import Allowed, Columns, Found, GroupedRows, Parts, Queries, Relevance, Weights

T = TypeVar("T")
# Below this many words of work per thread, starting the thread costs more than it saves.
WORDS_PER_THREAD = 2_000_000
# How many rows a scan passes in the time it takes to look up one row somewhere in memory.
SCANNED_PER_LOOKED_AT = 16
# The candidates of all queries in one call take at most about this many bytes.
CANDIDATE_BYTES = 256 * 2**20


def levels() -> list[str]:
    """The instruction sets that this processor can run, best first."""
    return list(_kernel.levels())


@cache
def level() -> str:
    """The instruction set in use: the best there is, or what ``PTS3H_KERNEL_LEVEL`` asks for."""
    asked = os.environ.get("PTS3H_KERNEL_LEVEL")
    return asked if asked in levels() else levels()[0]


@cache
def threads() -> int:
    """How many threads to use: ``PTS3H_THREADS``, by default one per core that this process may use."""
    asked = os.environ.get("PTS3H_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return usable_cores()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads(), thread_name_prefix="pts3h-kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def _parallel(work: Callable[[int, int], T], total: int, parts: int) -> list[T]:
    """Run ``work(begin, end)`` over ``total`` things, split into ``parts``."""
    if parts <= 1:
        return [work(0, total)]
    edges = [total * part // parts for part in range(parts + 1)]
    return list(_pool().map(work, edges[:-1], edges[1:]))


def _parts(queries: int, rows: int, words: int) -> int:
    return max(1, min(threads(), queries * rows * words // WORDS_PER_THREAD))


def _found(raw: tuple[bytes, bytes, bytes]) -> Found:
    counts, rows, distances = raw
    return Found(
        np.frombuffer(counts, np.int64), np.frombuffer(rows, np.uint32), np.frombuffer(distances, np.uint16)
    )


def _side_by_side(parts: list[Found], k: int | None) -> Found:
    """Join what was found for the same queries in ascending ranges of rows. The sort is stable."""
    if len(parts) == 1:
        return parts[0]
    lists = [part.split() for part in parts]
    counts, all_rows, all_distances = [], [], []
    for same_query in zip(*lists, strict=True):
        rows, distances = (np.concatenate(same) for same in zip(*same_query, strict=True))
        order = np.argsort(distances, kind="stable")[:k]
        counts.append(len(order))
        all_rows.append(rows[order])
        all_distances.append(distances[order])
    return Found(np.array(counts, np.int64), np.concatenate(all_rows), np.concatenate(all_distances))


def _spread(
    scan: Callable[[Queries, int, int], Found], queries: Queries, rows: int, words: int, k: int | None
) -> Found:
    """Split the work by queries if there are enough of them, else by rows."""
    parts = _parts(len(queries), rows, words)
    if len(queries) >= parts:

        def some_queries(begin: int, end: int) -> Found:
            return scan(queries[begin:end], 0, rows)

        return Found.joined(_parallel(some_queries, len(queries), parts))

    def some_rows(begin: int, end: int) -> Found:
        return scan(queries, begin, end)

    return _side_by_side(_parallel(some_rows, rows, parts), k)


def nearest(
    how: Measure,
    queries: Queries,
    columns: Columns,
    k: int,
    allowed: Allowed | None,
    weights: Weights | None,
    using: str | None = None,
) -> Found:
    """See :func:`pts3h.kernel.nearest`."""
    n = columns.shape[1]
    if k == 0 or len(queries) == 0:
        return Found.nothing(len(queries))

    def scan(some: Queries, begin: int, end: int) -> Found:
        raw = _kernel.nearest(using or level(), how, some, columns, n, begin, end, k, allowed, weights)
        return _found(raw)

    if weights is not None:  # the last distance depends on all rows, so only queries can be split
        words = columns.shape[0]
        parts = min(len(queries), _parts(len(queries), n, words))
        return Found.joined(_parallel(lambda a, b: scan(queries[a:b], 0, n), len(queries), parts))
    group = max(1, CANDIDATE_BYTES // (12 * k + 2048))
    groups = [queries[start : start + group] for start in range(0, len(queries), group)]
    return Found.joined([_spread(scan, some, n, columns.shape[0], k) for some in groups])


def within(
    how: Measure,
    queries: Queries,
    columns: Columns,
    radius: int,
    allowed: Allowed | None,
    using: str | None = None,
) -> Found:
    """See :func:`pts3h.kernel.within`."""
    n = columns.shape[1]

    def scan(some: Queries, begin: int, end: int) -> Found:
        return _found(_kernel.within(using or level(), how, some, columns, n, begin, end, radius, allowed))

    return _spread(scan, queries, n, columns.shape[0], None) if len(queries) else Found.nothing(0)


def histograms(
    how: Measure, queries: Queries, columns: Columns, relevance: Relevance, using: str | None = None
) -> NDArray[np.int64]:
    """(q, 2, largest + 1): how many irrelevant and relevant rows each query has at each distance."""
    n = columns.shape[1]
    out = np.zeros((len(queries), 2, how.largest + 1), np.int64)
    width = relevance.of_queries.shape[1] if relevance.kind == 2 else 0

    def count(begin: int, end: int) -> Found:
        _kernel.histograms(
            using or level(),
            how,
            queries[begin:end],
            columns,
            n,
            n,
            relevance.kind,
            np.ascontiguousarray(relevance.of_queries[begin:end]),
            relevance.of_rows,
            width,
            out[begin:end],
        )
        return Found.nothing(0)

    if len(queries) and n:
        parts = min(len(queries), _parts(len(queries), n, columns.shape[0]))
        _parallel(count, len(queries), parts)
    return out


def group(columns: Columns, first: int, width: int) -> GroupedRows:
    """Group all rows by a window of their bits."""
    n = columns.shape[1]
    part = GroupedRows(first, width, np.empty(2**width + 1, np.uint32), np.empty(n, np.uint32))
    _kernel.group(columns, n, n, first, width, part.starts, part.rows)
    return part


@cache
def flips(width: int, most: int) -> NDArray[np.uint32]:
    """All patterns of ``width`` bits with at most ``most`` of them set, fewest first."""
    patterns = [
        sum(1 << bit for bit in chosen)
        for size in range(most + 1)
        for chosen in combinations(range(width), size)
    ]
    return np.array(patterns, np.uint32)


def look_up(
    how: Measure,
    queries: Queries,
    columns: Columns,
    radius: int,
    parts: Parts,
    allowed: Allowed | None,
    most: int | None = None,
) -> Found | None:
    """See :func:`pts3h.kernel.look_up`."""
    n = columns.shape[1]
    widest, most_flips = max(part.width for part, _ in parts), max(budget for _, budget in parts)
    patterns = flips(widest, most_flips)
    described: list[tuple[Any, ...]] = []
    for part, budget in parts:
        tries = len(flips(part.width, budget))
        if part.width != widest and budget:
            raise ValueError("parts that flip bits must be equally wide")
        described.append((part.first, part.width, tries, budget, part.starts, part.rows))
    given = tuple(described)

    looked_at = n // SCANNED_PER_LOOKED_AT
    bound = (looked_at, True) if most is None else (min(most, looked_at), False)

    def scan(begin: int, end: int) -> Found | None:
        some = queries[begin:end]
        raw = _kernel.lookup(level(), how, some, columns, n, radius, given, patterns, *bound, allowed)
        return None if raw is None else _found(raw)

    probes = sum(entry[2] for entry in given)
    parts_of_work = min(len(queries), _parts(len(queries), probes, 16))
    found = _parallel(scan, len(queries), max(1, parts_of_work))
    whole = [part for part in found if part is not None]
    return Found.joined(whole) if len(whole) == len(found) else None
