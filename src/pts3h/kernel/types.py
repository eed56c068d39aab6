"""The arrays that a kernel takes and returns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Queries = NDArray[np.uint64]  # (q, words): one code after the other
Columns = NDArray[np.uint64]  # (words, n): word by word, so that neighbouring rows fill a register
Allowed = NDArray[np.bool_]  # (n,): which rows count
Weights = NDArray[np.uint32]  # (n,): how many items each row stands for
Rows = NDArray[np.uint32]
Distances = NDArray[np.uint16]


class Found(NamedTuple):
    """Rows found for several queries, one query after the other, each by (distance, row)."""

    counts: NDArray[np.int64]
    rows: Rows
    distances: Distances

    @classmethod
    def nothing(cls, queries: int) -> "Found":
        """No rows for any of this many queries."""
        return cls(np.zeros(queries, np.int64), np.empty(0, np.uint32), np.empty(0, np.uint16))

    @classmethod
    def joined(cls, parts: Sequence["Found"]) -> "Found":
        """What was found for some queries, then for others, and so on."""
        if len(parts) == 1:
            return parts[0]
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.nothing(0)

    def first(self, k: int) -> "Found":
        """The k nearest of each query."""
        starts = np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        kept = np.arange(len(self.rows)) - starts < k
        return Found(np.minimum(self.counts, k), self.rows[kept], self.distances[kept])

    def split(self) -> list[tuple[Rows, Distances]]:
        """Rows and distances of each query."""
        edges = np.concatenate([[0], np.cumsum(self.counts)]).tolist()
        return [(self.rows[a:b], self.distances[a:b]) for a, b in pairwise(edges)]


class Relevance(NamedTuple):
    """Which rows are relevant to which queries, checked.

    kind 0: ``of_queries`` (q, n) uint8. kind 1: ``of_queries`` (q, 2) int64, first and last + 1 of the
    relevant rows, which are one range. kind 2: uint64 masks (q, words) and (n, words); a row with a bit
    in common with the query is relevant.
    """

    kind: Literal[0, 1, 2]
    of_queries: NDArray[np.generic]
    of_rows: NDArray[np.generic] | None


class GroupedRows(NamedTuple):
    """Rows grouped by the value of ``width`` bits of their code, starting at bit ``first``."""

    first: int
    width: int
    starts: NDArray[np.uint32]
    rows: Rows


Parts = Sequence[tuple[GroupedRows, int]]  # each with how many of its bits may differ
