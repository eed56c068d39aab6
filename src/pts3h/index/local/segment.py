"""An unchanging set of items in id order, ready to be searched. Rows are positions in that order."""

import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernel
from ...codes import By, Codes, Layout, code_bytes
from ...kernel.types import Allowed, Columns, Found, Rows, Weights
from ..contract import IdKind
from .filtering import Verdicts
from .ids import Ids, IntIds, SomeIds, TextIds, encode_ids, last_of_each
from .multi_index import FEW_ROWS, RadiusSearch, Tables

# With fewer rows than this, looking for equal codes costs more than it can save.
SMALLEST_WITH_DUPLICATES = 10_000
# Equal codes are stored once if that leaves at most this share of the rows.
WORTHWHILE = 0.5
# Of more rows than this, those of one in so many codes tell how many are equal: sorting all takes a while.
MANY, PARTS = 1_000_000, 16
MIXER = np.uint64(0x9E3779B97F4A7C15)
# Ties are put in order for so many rows at a time, at about 60 bytes each.
EXPANDED = 1_000_000
# The codes that all queries of one call find take at most about this many bytes.
FOUND_BYTES = 64 * 2**20
# If a filter leaves at most this share of the rows, a copy of them is searched.
SELECTIVE = 0.125


@dataclass(frozen=True)
class Effort:
    """How many bytes of codes a query looks through, usually and at worst."""

    through: int
    at_worst: int


@dataclass(frozen=True)
class DistinctCodes:
    """Each distinct code once, with the rows that have it: ``rows[starts[c]:starts[c + 1]]``, ascending."""

    columns: Columns
    starts: NDArray[np.int64]
    rows: Rows

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each code has."""
        return np.diff(self.starts)

    @cached_property
    def weights(self) -> Weights:
        """The same, as the kernel takes them."""
        return self.sizes.astype(np.uint32)

    def only(self, allowed: Allowed | None) -> "DistinctCodes":
        """The same codes with their allowed rows alone, which may be none."""
        if allowed is None:
            return self
        kept = allowed[self.rows]
        sizes = np.add.reduceat(kept, self.starts[:-1], dtype=np.int64)
        return DistinctCodes(self.columns, np.append(0, np.cumsum(sizes)), self.rows[kept])

    def expand(self, found: Found, k: int | None, allowed: Allowed | None = None) -> Found:
        """Replace codes by their rows, of each query the allowed ones or the first k, by (distance, row).

        A part of the queries at a time, so that memory grows with what is returned, not with all ties.
        """
        sizes = self.sizes[found.rows]
        if k is not None:
            sizes = np.minimum(sizes, k)  # rows of a code are in order, so no later one is among the first k
        if len(sizes) * (k or EXPANDED) <= EXPANDED or sizes.sum() <= EXPANDED:
            return self._expand(found, sizes, k, allowed)
        edges = np.append(0, np.cumsum(found.counts))
        through = np.append(0, np.cumsum(sizes))[edges]  # rows up to each query
        parts: list[Found] = []
        start = 0
        while start < len(found.counts):
            stop = int(np.searchsorted(through, through[start] + EXPANDED, "right")) - 1
            stop = max(start + 1, stop)
            some = slice(edges[start], edges[stop])
            part = Found(found.counts[start:stop], found.rows[some], found.distances[some])
            parts.append(self._expand(part, sizes[some], k, allowed))
            start = stop
        return Found.joined(parts)

    def _expand(
        self, found: Found, sizes: NDArray[np.int64], k: int | None, allowed: Allowed | None
    ) -> Found:
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        inside = np.arange(total) - np.repeat(ends - sizes, sizes)
        rows = self.rows[np.repeat(self.starts[found.rows], sizes) + inside]
        distances = np.repeat(found.distances, sizes)
        queries = np.repeat(np.repeat(np.arange(len(found.counts)), found.counts), sizes)
        if allowed is not None:
            kept = allowed[rows]
            rows, distances, queries = rows[kept], distances[kept], queries[kept]
        order = np.lexsort((rows, distances, queries))
        counts = np.bincount(queries, minlength=len(found.counts))
        if k is not None:
            firsts = np.repeat(np.cumsum(counts) - counts, counts)
            order = order[np.arange(len(order)) - firsts < k]
            counts = np.minimum(counts, k)
        return Found(counts, rows[order], distances[order])


def distinct_codes(columns: Columns) -> DistinctCodes | None:
    """The codes with equal ones stored once, or None if too few are equal for that to pay off."""
    n = columns.shape[1]
    if n < SMALLEST_WITH_DUPLICATES or _share_distinct(columns) > WORTHWHILE:
        return None
    order = np.lexsort(columns)  # stable, so rows stay ascending within a code
    ordered = columns[:, order]
    is_first = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
    starts = np.append(np.flatnonzero(is_first), n)
    return DistinctCodes(np.ascontiguousarray(ordered[:, is_first]), starts, order.astype(np.uint32))


def _share_distinct(columns: Columns) -> float:
    """About which share of the rows has a code of its own.

    Of very many rows, those of a part of the codes tell: all rows of a code are in one part.
    """
    n = columns.shape[1]
    hashes = None
    if n > MANY:
        strips = (_hashes(columns[:, start : start + MANY]) for start in range(0, n, MANY))
        hashes = np.concatenate([strip[strip < np.uint64(2**64 // PARTS)] for strip in strips])
    if hashes is None or len(hashes) < n / (2 * PARTS):  # a few codes have most rows, and are in other parts
        hashes = _hashes(columns)
    hashes.sort()
    return (1 + int(np.count_nonzero(hashes[1:] != hashes[:-1]))) / len(hashes)


def _hashes(columns: Columns) -> NDArray[np.uint64]:
    """One word for each code; different codes of one word stay different."""
    mixed: NDArray[np.uint64] = columns[0] * MIXER
    for column in columns[1:]:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * MIXER + column * MIXER
    return mixed


class Segment:
    """Items in id order, with what is needed to search them."""

    def __init__(self, layout: Layout, kind: IdKind, ids: Ids, columns: Columns) -> None:
        self.layout = layout
        self.kind = kind
        self.ids = ids
        self.columns = columns
        self.verdicts = Verdicts(len(self))
        self._lock = threading.Lock()
        self._tables: Tables | None = None
        self._searches: dict[By, RadiusSearch] = {}
        self._distinct: DistinctCodes | None = None
        self._last_only: tuple[Allowed | None, DistinctCodes | None] = None, None

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @cached_property
    def every_row(self) -> Allowed:
        """A mask that lets all rows pass."""
        return np.ones(len(self), bool)

    def codes(self, rows: NDArray[Any] | slice) -> Codes:
        """Packed codes (n, bytes) of these rows."""
        words = np.ascontiguousarray(self.columns[:, rows].T)
        return np.ascontiguousarray(words.view(np.uint8)[:, : code_bytes(self.layout.bits)])

    def _ready(self, by: By) -> tuple[RadiusSearch, DistinctCodes | None]:
        with self._lock:
            if self._tables is None:
                self._distinct = distinct_codes(self.columns)
                self._tables = Tables(self.columns if self._distinct is None else self._distinct.columns)
            if by not in self._searches:
                self._searches[by] = RadiusSearch(self.layout, self._tables, by)
            return self._searches[by], self._distinct

    def effort(self, by: By, radius: int | None) -> Effort | None:
        """What a search takes; None while something has to be made or measured first."""
        search = self._searches.get(by)  # no lock: whoever makes one holds it for long
        if search is None:
            return None
        whole = search.columns.nbytes
        if radius is None or not search.can_look_up(radius):
            return Effort(whole, whole)
        if not search.looks_up(radius):
            return None
        rows = search.columns.shape[1]
        return Effort(whole * min(rows, FEW_ROWS) // rows, whole)

    def nearest(self, queries: Codes, k: int, allowed: Allowed | None, by: By) -> Found:
        """The k nearest allowed rows of each query, by (distance, row)."""
        search, distinct = self._ready(by)
        if distinct is not None:
            return self._nearest_distinct(search.columns, self._only(distinct, allowed), queries, k, by)
        if (rows := _few(allowed)) is not None:
            few = np.ascontiguousarray(self.columns[:, rows])
            found = kernel.nearest(self.layout, queries, few, k, by=by)
            return found._replace(rows=rows[found.rows])
        return kernel.nearest(self.layout, queries, self.columns, k, by=by, allowed=allowed)

    def nearest_within(self, queries: Codes, k: int, radius: int, allowed: Allowed | None, by: By) -> Found:
        """The k nearest: within the radius by lookups, or of all rows by a scan, where that is quicker."""
        search, distinct = self._ready(by)
        k, mask = min(k, len(self)), allowed if distinct is None else None
        if (near := search.few_within(queries, radius, mask)) is not None:
            return near.first(k) if distinct is None else self._only(distinct, allowed).expand(near, k)
        begun = time.perf_counter()
        found = self.nearest(queries, k, allowed, by)
        search.scanned(queries, radius, mask, time.perf_counter() - begun)
        return found

    def _only(self, distinct: DistinctCodes, allowed: Allowed | None) -> DistinctCodes:
        """The allowed rows of each code; those of the last call are kept, since masks come again."""
        asked, left = self._last_only
        if left is None or asked is not allowed:
            left = distinct.only(allowed)
            self._last_only = allowed, left
        return left

    def _nearest_distinct(
        self, columns: Columns, distinct: DistinctCodes, queries: Codes, k: int, by: By
    ) -> Found:
        """Some queries at a time: each may find all codes, at one distance."""
        k = min(k, len(self))
        step = max(1, FOUND_BYTES // (8 * columns.shape[1]))
        parts = []
        for start in range(0, len(queries), step):
            some = queries[start : start + step]
            found = kernel.nearest(self.layout, some, columns, k, by=by, weights=distinct.weights)
            parts.append(distinct.expand(found, k))
        return Found.joined(parts)

    def within(self, queries: Codes, radius: int, allowed: Allowed | None, by: By) -> Found:
        """All allowed rows within the radius of each query, by (distance, row)."""
        search, distinct = self._ready(by)
        if distinct is None:
            return search.within(queries, radius, allowed)
        return distinct.expand(search.within(queries, radius, None), None, allowed)


def _few(allowed: Allowed | None) -> Rows | None:
    """The allowed rows if they are few, else None."""
    if allowed is None or np.count_nonzero(allowed) > len(allowed) * SELECTIVE:
        return None
    return np.flatnonzero(allowed).astype(np.uint32)


def build(layout: Layout, kind: IdKind, ids: SomeIds, codes: Codes, kept: NDArray[np.bool_]) -> Segment:
    """A segment from entries in the order of writing: the last entry of each id counts, if it is ``kept``."""
    if isinstance(ids, np.ndarray) and kept.all() and (ids[1:] > ids[:-1]).all():  # as most are written
        return Segment(layout, kind, IntIds(ids), kernel.columns_of(codes))
    positions = last_of_each(ids, kind)
    positions = positions[kept[positions]]
    in_order: Ids
    if isinstance(ids, np.ndarray):
        in_order = IntIds(ids[positions])
    else:
        in_order = TextIds(encode_ids([ids[position] for position in positions.tolist()]))
    return Segment(layout, kind, in_order, kernel.columns_of(codes[positions]))
