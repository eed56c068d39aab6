"""Ids in ascending order, compact in memory: 64-bit integers in an array, text in one long run of UTF-8.

A row is a position in that order, so the lowest row among ties is the lowest id.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..contract import IdKind

Places = NDArray[np.int64]
# Ids in any order. Many integers are an array: as Python's own they would take five times the memory.
SomeIds = list[Any] | NDArray[np.int64]
# Finding one id by bisection costs about as much as putting this many ids into a dict.
ONE_BY_ONE = 16
STRIP = 65_536  # integers are found so many at a time, at about 30 bytes each
LANDMARK = 64  # ids from one landmark to the next: about a byte of memory per id


def encode_ids(ids: SomeIds) -> bytes:
    """Ids of one kind as bytes: little-endian 64-bit integers, or UTF-8 separated by NUL (no id has one)."""
    if len(ids) and isinstance(ids[0], str):
        return "\0".join(cast(list[str], ids)).encode()
    return np.asarray(ids, "<i8").tobytes()


def decode_ids(raw: bytes, kind: IdKind) -> SomeIds:
    """The inverse of :func:`encode_ids`."""
    if kind == "int":
        return np.frombuffer(raw, "<i8")
    return raw.decode().split("\0") if raw else []


def joined_ids(runs: Sequence[SomeIds], kind: IdKind) -> SomeIds:
    """All ids of some runs, one run after the other."""
    if kind == "int":
        return np.concatenate([np.empty(0, np.int64), *(np.asarray(run, np.int64) for run in runs)])
    return list(chain.from_iterable(runs))


def last_of_each(ids: SomeIds, kind: IdKind) -> Places:
    """The position at which each id occurs last, in the order of the ids."""
    if kind == "text":
        last = {one: position for position, one in enumerate(ids)}
        return np.fromiter((last[one] for one in sorted(last)), np.int64, len(last))
    array = np.asarray(ids, np.int64)
    order: Places = np.argsort(array, kind="stable")
    ordered = array[order]
    is_last = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
    positions: Places = order[is_last]
    return positions


class Ids(ABC):
    """Distinct ids in ascending order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: NDArray[Any]) -> list[Any]:
        """The ids at these rows."""

    def pick(self, rows: NDArray[Any]) -> SomeIds:
        """The same, for many."""
        return self.take(rows)

    @abstractmethod
    def find(self, wanted: SomeIds) -> Places:
        """The row of each id, -1 if it is not here."""

    @abstractmethod
    def encode(self) -> bytes:
        """All ids as :func:`encode_ids` gives them."""

    @abstractmethod
    def all(self) -> SomeIds:
        """All ids in order. What is returned must not be changed."""


class IntIds(Ids):
    """64-bit integers."""

    def __init__(self, values: NDArray[np.int64]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> list[Any]:
        """See :class:`Ids`."""
        taken: list[int] = self.values[rows].tolist()
        return taken

    def pick(self, rows: NDArray[Any]) -> SomeIds:
        """See :class:`Ids`."""
        picked: NDArray[np.int64] = self.values[rows]
        return picked

    def find(self, wanted: SomeIds) -> Places:
        """See :class:`Ids`."""
        asked = np.asarray(wanted, np.int64)
        found = np.full(len(asked), -1, np.int64)
        for start in range(0, len(asked) if len(self.values) else 0, STRIP):
            some = asked[start : start + STRIP]
            rows = np.minimum(np.searchsorted(self.values, some), len(self.values) - 1)
            np.copyto(found[start : start + STRIP], rows, where=self.values[rows] == some)
        return found

    def all(self) -> SomeIds:
        """See :class:`Ids`."""
        return self.values

    def encode(self) -> bytes:
        """See :class:`Ids`."""
        return encode_ids(self.values)


class TextIds(Ids):
    """Text: one run of UTF-8 in which NUL ends each id, and where each id begins."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw + b"\0" if raw else b""
        ends = np.flatnonzero(np.frombuffer(self._raw, np.uint8) == 0)
        self._starts = np.append(0, ends + 1).astype(np.uint32 if len(self._raw) < 2**32 else np.uint64)
        self._start = self._starts.data  # one number of it is had several times as fast

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _utf8(self, row: int) -> bytes:
        return self._raw[self._start[row] : self._start[row + 1] - 1]

    def take(self, rows: NDArray[Any]) -> list[Any]:
        """See :class:`Ids`."""
        if len(rows) == len(self):
            everything = self.all()
            return [everything[row] for row in rows.tolist()]
        begins, ends = self._starts[rows].tolist(), self._starts[rows.astype(np.int64) + 1].tolist()
        return [self._raw[a : b - 1].decode() for a, b in zip(begins, ends, strict=True)]

    def find(self, wanted: SomeIds) -> Places:
        """See :class:`Ids`."""
        if len(wanted) * ONE_BY_ONE > len(self):
            rows = {one: row for row, one in enumerate(self.all())}
            return np.array([rows.get(one, -1) for one in wanted], np.int64)
        return np.array([self._find(one.encode()) for one in wanted], np.int64)

    def _find(self, wanted: bytes) -> int:
        """By the last landmark before it, and then among the ids up to the next."""
        start = max(bisect_right(self._landmarks, wanted) - 1, 0) * LANDMARK
        row = start + bisect_left(range(start, min(start + LANDMARK, len(self))), wanted, key=self._utf8)
        return row if row < len(self) and self._utf8(row) == wanted else -1

    @cached_property
    def _landmarks(self) -> list[bytes]:
        """Some of the ids as they are: to look one up in a list is quick."""
        return [self._utf8(row) for row in range(0, len(self), LANDMARK)]

    def all(self) -> SomeIds:
        """See :class:`Ids`."""
        return cast(list[str], decode_ids(self._raw[:-1], "text"))

    def encode(self) -> bytes:
        """See :class:`Ids`."""
        return self._raw[:-1]


def sorted_ids(raw: bytes, kind: IdKind) -> Ids:
    """Decode ids that are in ascending order already."""
    return TextIds(raw) if kind == "text" else IntIds(np.frombuffer(raw, "<i8"))
