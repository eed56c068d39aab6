"""Which rows pass a filter on metadata.

A row of a segment is one version of an item: when the item is written again, another row begins to count. So
what a filter says of a row never changes. It is kept with the segment, and handed on when segments are
merged; after a write, only the rows that it brought are asked about.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...kernel.types import Allowed
from ..filters import And, Compare, Filter, Not, OneOf, Or, matches
from .damage import Damage
from .ids import Ids
from .metadata import Metadata

# How many filters are kept in mind, at two bits per row; those used least recently go first.
FILTERS_KEPT = 16
# Of so many there is a mask that a search can use at once, at a byte per row.
MASKS_KEPT = 4
# If at most this share of the rows is new, their metadata is read one by one.
FEW = 0.125

Value = TypeVar("Value")
Bits = NDArray[np.uint8]  # (2, bytes): which rows passed, and of which that is known


class Kept(Generic[Value]):
    """A value for each filter that was used lately. The key is its text, in which 1 and True differ.

    Args:
        most: how many; ``FILTERS_KEPT`` by default.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        """The value of a filter, if it is kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: str, value: Value) -> None:
        """Keep the value of a filter."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > (self._most or FILTERS_KEPT):
                self._values.popitem(last=False)

    def items(self) -> list[tuple[str, Value]]:
        """All filters with their values, the one used last at the end."""
        with self._lock:
            return list(self._values.items())


@dataclass(frozen=True)
class Verdict:
    """Which rows of a segment pass a filter. Where it is not ``known``, ``passed`` means nothing."""

    passed: Allowed
    known: Allowed

    def then(self, later: "Verdict") -> "Verdict":
        """What both know."""
        passed = (self.passed & ~later.known) | (later.passed & later.known)
        return Verdict(passed, self.known | later.known)


class Verdicts:
    """What filters that were used lately say of the rows of a segment, in bits.

    Args:
        rows: of the segment.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._kept = Kept[Bits]()

    def get(self, key: str) -> Verdict | None:
        """What is known of a filter, if it is kept."""
        bits = self._kept.get(key)
        return None if bits is None else self._verdict(bits)

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep what is known of a filter."""
        self._kept.put(key, np.packbits([verdict.passed, verdict.known], axis=1))

    def hand_on(self, before: NDArray[np.int64] | slice, heir: "Verdicts", after: NDArray[np.int64]) -> None:
        """Rows ``before`` of this segment are rows ``after`` of another one."""
        for key, bits in self._kept.items():
            mine = self._verdict(bits)
            known = heir.get(key) or Verdict(np.zeros(heir.rows, bool), np.zeros(heir.rows, bool))
            known.passed[after], known.known[after] = mine.passed[before], mine.known[before]
            heir.put(key, known)

    def __len__(self) -> int:
        return len(self._kept.items())

    def _verdict(self, bits: Bits) -> Verdict:
        passed, known = np.unpackbits(bits, axis=1, count=self.rows).view(bool)
        return Verdict(passed, known)


def answers(where: Filter, asked: Sequence[tuple[Ids, Allowed]], metadata: Metadata) -> list[Allowed]:
    """Which items pass a filter: of several sorted runs of ids, those rows that are asked about.

    What is said of other rows means nothing.
    """
    if sum(np.count_nonzero(rows) for _, rows in asked) > FEW * sum(len(ids) for ids, _ in asked):
        return _by_facts(where, [ids for ids, _ in asked], metadata)
    masks = [np.zeros(len(ids), bool) for ids, _ in asked]
    for mask, (ids, rows) in zip(masks, asked, strict=True):
        places = np.flatnonzero(rows)
        mask[places] = [matches(where, meta) for meta in metadata.get(ids.take(places))]
    return masks


def _by_facts(where: Filter, runs: Sequence[Ids], metadata: Metadata) -> list[Allowed]:
    """For every row of each run of ids, whether it passes: one look into the database per condition."""
    match where:
        case Compare() | OneOf():
            found = metadata.ids_where(where)
            return [_mask(ids, found) for ids in runs]
        case And(parts) | Or(parts):
            combine = np.logical_and if isinstance(where, And) else np.logical_or
            masks = _by_facts(parts[0], runs, metadata)
            for part in parts[1:]:
                for mask, more in zip(masks, _by_facts(part, runs, metadata), strict=True):
                    combine(mask, more, out=mask)
            return masks
        case Not(part):
            return [~mask for mask in _by_facts(part, runs, metadata)]


def _mask(ids: Ids, found: list[Any]) -> Allowed:
    mask = np.zeros(len(ids), bool)
    try:
        rows = ids.find(found)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:  # ids of another kind
        raise Damage from error
    mask[rows[rows >= 0]] = True
    return mask
