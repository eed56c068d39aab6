"""What a local index holds at one moment. It never changes, so any number of threads can search it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from ...codes import Codes, Layout, code_bytes
from ...kernel.types import Allowed, Found
from ...util.memory import return_freed_memory
from ..contract import Hits, IdKind
from .filtering import MASKS_KEPT, Kept, Verdict
from .ids import SomeIds, joined_ids
from .log import LogRecord
from .segment import Segment, build
from .store import State

# New items stay in a segment of their own until they are more than this many, and than this share of the next
# larger one. So a write makes a small segment anew, now and then a larger one, and there are never many.
RECENT = 8_192
RECENT_SHARE = 0.125
# To make a segment of so many items, or to ask a filter about them, takes much memory for a moment. It would
# stay with the process.
MANY = 100_000


@dataclass
class LivePart:
    """A segment and which of its rows still count (None: all)."""

    segment: Segment
    alive: Allowed | None = None
    _allowed: Kept[Allowed] = field(default_factory=lambda: Kept(MASKS_KEPT))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that count."""
        return np.arange(len(self.segment)) if self.alive is None else np.flatnonzero(self.alive)

    @property
    def count(self) -> int:
        """How many items count."""
        return len(self.segment) if self.alive is None else int(np.count_nonzero(self.alive))

    @property
    def sparse(self) -> bool:
        """Whether most of its rows no longer count."""
        return self.count < len(self.segment) / 2

    def entries(self) -> tuple[SomeIds, Codes]:
        """Ids and codes of the items that count; no copies if all do."""
        if self.alive is None:
            return self.segment.ids.all(), self.segment.codes(slice(None))
        rows = self.rows
        return self.segment.ids.pick(rows), self.segment.codes(rows)

    def without(self, ids: SomeIds) -> "LivePart":
        """The same part without these ids."""
        rows = self.segment.ids.find(ids)
        rows = rows[rows >= 0]
        if not len(rows):
            return self
        alive = np.ones(len(self.segment), bool) if self.alive is None else self.alive.copy()
        alive[rows] = False
        return LivePart(self.segment, alive)

    def hand_on(self, ids: SomeIds, heir: Segment) -> None:
        """Tell a segment what is known of the rows that it took over: all that count here, with these ids."""
        if self.segment.verdicts:
            rows = slice(None) if self.alive is None else self.rows
            self.segment.verdicts.hand_on(rows, heir.verdicts, heir.ids.find(ids))

    def allowed(self, key: str) -> Allowed | None:
        """The rows that count and pass a filter; None if that is not known of all of them."""
        ready = self._allowed.get(key)
        verdict = self.verdict(key) if ready is None else None
        if verdict is not None and not self.unknown(verdict).any():
            ready = self._passed(key, verdict)
        return ready

    def verdict(self, key: str) -> Verdict | None:
        """What is known of a filter."""
        return self.segment.verdicts.get(key)

    def unknown(self, verdict: Verdict | None) -> Allowed:
        """The rows that count and of which nothing is known."""
        if verdict is None:
            return self.segment.every_row if self.alive is None else self.alive
        return ~verdict.known if self.alive is None else self.alive & ~verdict.known

    def learn(self, key: str, verdict: Verdict) -> Allowed:
        """Keep what is known of a filter now, of all rows that count; return those that pass."""
        self.segment.verdicts.put(key, verdict)
        return self._passed(key, verdict)

    def _passed(self, key: str, verdict: Verdict) -> Allowed:
        ready = verdict.passed if self.alive is None else verdict.passed & self.alive
        self._allowed.put(key, ready)
        return ready


@dataclass
class Snapshot:
    """Most items in one large segment, the newest in small ones.

    Attributes:
        layout: what the bits of the codes are.
        state: how far into the log this reaches.
        parts: the large one, then ever smaller and newer ones; no id counts in two.
        kind: the kind of the ids, None before the first add.
    """

    layout: Layout
    state: State
    parts: list[LivePart]
    kind: IdKind | None

    @property
    def count(self) -> int:
        """How many items there are."""
        return sum(part.count for part in self.parts)

    def entries(self) -> tuple[SomeIds, Codes]:
        """All ids with their codes."""
        parts = [part.entries() for part in self.parts]
        codes = [np.empty((0, code_bytes(self.layout.bits)), np.uint8), *(codes for _, codes in parts)]
        return joined_ids([ids for ids, _ in parts], self.kind or "text"), np.concatenate(codes)

    def as_one_segment(self) -> Segment:
        """All items in one segment. There must be at least one part."""
        segment = self.parts[0].segment
        if len(self.parts) == 1 and self.parts[0].alive is None:
            return segment
        return self._build(segment.kind, [LogRecord([], *self.entries())])

    def after(self, records: Sequence[LogRecord], kind: IdKind | None, state: State) -> "Snapshot":
        """The snapshot after these records."""
        if not records or kind is None:
            return Snapshot(self.layout, state, self.parts, kind)
        touched = _named(records, kind) if self.parts else []
        parts = [part.without(touched) for part in self.parts]
        coming = sum(len(record.ids) for record in records)
        place = len(parts)
        while place and (
            coming > max(RECENT, RECENT_SHARE * parts[place - 1].count)
            or (place > 1 and len(parts[place - 1].segment) <= RECENT)
        ):
            place -= 1
            coming += parts[place].count
        place = min([place, *(one for one, part in enumerate(parts) if part.sparse)])
        parts, merged = parts[:place], parts[place:]
        before = [LogRecord([], *part.entries()) for part in merged]
        segment = self._build(kind, [*before, *records])
        for part, record in zip(merged, before, strict=True):
            part.hand_on(record.ids, segment)
        if len(segment) > MANY:
            del before
            return_freed_memory()
        parts += [LivePart(segment)] if len(segment) else []
        return Snapshot(self.layout, state, parts, kind)

    def _build(self, kind: IdKind, records: Sequence[LogRecord]) -> Segment:
        """One segment of what remains after all records in order."""
        ids = _named(records, kind)
        codes = np.concatenate([record.codes for record in records])
        kept = np.concatenate([np.repeat([False, True], [len(r.gone), len(r.ids)]) for r in records])
        if len(codes) < len(ids):
            of_kept, codes = codes, np.zeros((len(ids), codes.shape[1]), np.uint8)
            codes[kept] = of_kept
        return build(self.layout, kind, ids, codes, kept)

    def hits(self, found: Sequence[Found], queries: int, k: int | None) -> list[Hits]:
        """What was found in all parts, as ids by (distance, id), the first k of each query."""
        each = []
        for part, rows in zip(self.parts, found, strict=True):
            ids, distances = part.segment.ids.take(rows.rows), rows.distances.tolist()
            edges = accumulate(rows.counts.tolist(), initial=0)
            each.append([Hits(ids[a:b], distances[a:b]) for a, b in pairwise(edges)])
        if not each:
            return [Hits([], []) for _ in range(queries)]
        if len(each) == 1:
            return each[0]
        merged = []
        for same_query in zip(*each, strict=True):
            pairs = sorted((distance, one) for hits in same_query for one, distance in hits)[:k]
            merged.append(Hits([one for _, one in pairs], [distance for distance, _ in pairs]))
        return merged


def _named(records: Sequence[LogRecord], kind: IdKind) -> SomeIds:
    """All ids that records name, in order."""
    return joined_ids([run for record in records for run in (record.gone, record.ids)], kind)
