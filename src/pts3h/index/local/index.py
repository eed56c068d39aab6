"""The local engine: one folder, in which SQLite holds the truth; the kernel searches.

A search works on a :class:`Snapshot` that never changes, so any number of threads can use it. Before each
search, one cheap question to SQLite tells whether anything was written. Only then is a new snapshot made.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from ...codes import By, Codes, Layout, code_bytes
from ...errors import UserError
from ...kernel.types import Allowed
from ..contract import Hits, Index, Item, check_kind, check_writable, kind_of
from ..filters import And, Compare, Filter, Not, OneOf, Or
from ..metadata import Meta
from . import cache
from .snapshot import RECENT, RECENT_SHARE, LivePart, Snapshot
from .store import LogRecord, State, Store

# A log is rewritten when it names more than twice as many ids as there are items, and this many besides.
GARBAGE = 65_536
# A snapshot keeps the results of this many metadata filters.
FILTERS_KEPT = 16


class LocalIndex(Index):
    """An index in a folder. Use :func:`pts3h.open_index`."""

    def __init__(self, folder: Path, layout: Layout | None, model: str | None, read_only: bool) -> None:
        self.folder = folder
        self._store = Store(folder, layout, model, read_only)
        self._writer: Store | None = None  # a connection of its own, so that readers never wait for a write
        self.layout, self.model = self._store.layout, self._store.model
        self._lock = threading.RLock()  # guards the attributes below
        self._snapshot: Snapshot | None = None
        self._version = -1  # of the store when the snapshot was made
        self._tidy_at = GARBAGE
        self._process = os.getpid()
        try:
            self._drop_cache_from_the_future()
        except BaseException:
            self._store.close()
            raise

    def _drop_cache_from_the_future(self) -> None:
        """A database restored from a backup must not catch up with a cache made from items that it lost."""
        saved = cache.state(self.folder)
        with self._store.reading():
            now = self._store.state()
        if saved and saved.epoch == now.epoch and saved.last > now.last:
            self._drop_cache()

    def _drop_cache(self) -> None:
        if not self._store.read_only:
            (self.folder / cache.FILE).unlink(missing_ok=True)

    def _check_open(self) -> None:
        super()._check_open()
        if os.getpid() != self._process:  # SQLite must not be used across a fork
            raise UserError("the index was opened before this process was forked; open it again in this one")

    # writing

    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        self._write(LogRecord([], ids, codes), meta)

    def _remove(self, ids: list[Any]) -> None:
        empty = np.empty((0, code_bytes(self.bits)), np.uint8)
        with self._store.reading():
            held = self._store.kind()
        if held is not None:
            self._write(LogRecord(list(dict.fromkeys(ids)), [], empty), [])

    def _write(self, record: LogRecord, meta: list[Meta]) -> None:
        writer = self._open_writer()
        with writer.writing():
            writer.append(record)
            if record.gone:
                writer.metadata.drop(record.gone)
            if record.ids:
                writer.metadata.put(record.ids, meta)
            entries = writer.entries()
        if entries > self._tidy_at:
            with suppress(UserError):  # the items are stored; tidying up can wait for a better moment
                self._tidy(writer)

    def _open_writer(self) -> Store:
        check_writable(self._store.read_only, self.folder)
        with self._lock:
            if self._writer is None:
                self._writer = Store(self.folder, self.layout, self.model, read_only=False)
            return self._writer

    def _tidy(self, writer: Store) -> None:
        """Rewrite the log if most of the ids it names are gone."""
        with writer.writing():
            snapshot = self._caught_up(writer)
            state = snapshot.state
            if writer.entries() > 2 * snapshot.count + GARBAGE:
                state = writer.rewrite(LogRecord([], *snapshot.entries()))
            self._tidy_at = 2 * writer.entries() + GARBAGE
        with self._lock:
            if self._snapshot is snapshot:
                snapshot.state = state  # the same items, so they need not be read again

    # catching up

    def _current(self) -> Snapshot:
        """A snapshot with everything that was committed before this call."""
        version = self._store.version()
        with self._lock:
            if self._snapshot is None or version != self._version:
                with self._store.reading():
                    self._caught_up(self._store)
                self._version = version
            assert self._snapshot is not None
            return self._snapshot

    def _caught_up(self, store: Store) -> Snapshot:
        """The snapshot of the moment of the store's transaction; only called inside one."""
        with self._lock:
            state = store.state()
            snapshot = self._snapshot or self._from_cache()
            if snapshot is None or snapshot.state.epoch != state.epoch or snapshot.state.last > state.last:
                snapshot = Snapshot(self.layout, State(state.epoch, 0), [])
            if snapshot.state != state:
                snapshot = snapshot.after(store.since(snapshot.state.last), store.kind(), state)
            self._snapshot = snapshot
            return snapshot

    def _from_cache(self) -> Snapshot | None:
        loaded = cache.load(self.folder, self.layout)
        if loaded is None:
            self._drop_cache()  # so that a valid one is saved on closing
            return None
        return Snapshot(self.layout, loaded[1], [LivePart(loaded[0])])

    # reading

    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]:
        snapshot, masks = self._view(where)
        both = zip(snapshot.parts, masks, strict=True)
        found = [part.segment.nearest(queries, k, mask, by) for part, mask in both]
        return snapshot.hits(found, len(queries), k)

    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]:
        snapshot, masks = self._view(where)
        both = zip(snapshot.parts, masks, strict=True)
        found = [part.segment.within(queries, radius, mask, by) for part, mask in both]
        return snapshot.hits(found, len(queries), None)

    def _view(self, where: Filter | None) -> tuple[Snapshot, list[Allowed | None]]:
        """A snapshot and, for each part, which rows count."""
        if where is None:
            snapshot = self._current()
            return snapshot, [part.alive for part in snapshot.parts]
        with self._lock, self._store.reading():  # metadata and codes are of one moment
            snapshot = self._caught_up(self._store)
            key = repr(where)
            if key not in snapshot.allowed:
                if len(snapshot.allowed) >= FILTERS_KEPT:
                    snapshot.allowed.clear()
                snapshot.allowed[key] = [self._allowed(part, where) for part in snapshot.parts]
            return snapshot, list(snapshot.allowed[key])

    def _allowed(self, part: LivePart, where: Filter) -> Allowed:
        rows = self._matching(part, where)
        return rows if part.alive is None else rows & part.alive

    def _matching(self, part: LivePart, where: Filter) -> Allowed:
        """Which rows of a part pass the filter."""
        match where:
            case Compare():
                mask = np.zeros(len(part.segment), bool)
                rows = part.segment.ids.find(self._store.metadata.ids_where(where))
                mask[rows[rows >= 0]] = True
                return mask
            case OneOf(key, values):
                each = (self._matching(part, Compare(key, "==", value)) for value in values)
                return reduce(np.logical_or, each, np.zeros(len(part.segment), bool))
            case And(parts):
                return reduce(np.logical_and, (self._matching(part, one) for one in parts))
            case Or(parts):
                return reduce(np.logical_or, (self._matching(part, one) for one in parts))
            case Not(inner):
                return ~self._matching(part, inner)

    def _get(self, ids: list[Any]) -> list[Item | None]:
        with self._lock, self._store.reading():
            check_kind(kind_of(ids), self._store.kind())
            snapshot = self._caught_up(self._store)
            meta = self._store.metadata.get(ids)
        found: list[Item | None] = [None] * len(ids)
        for part in snapshot.parts:
            rows = part.segment.ids.find(ids)
            here = np.flatnonzero(rows >= 0)
            if part.alive is not None:
                here = here[part.alive[rows[here]]]
            for position, code in zip(here.tolist(), part.segment.codes(rows[here]), strict=True):
                found[position] = Item(ids[position], code, meta[position])
        return found

    def _scan(self, batch: int) -> Iterator[tuple[list[Any], Codes]]:
        for part in self._current().parts:
            rows = np.arange(len(part.segment)) if part.alive is None else np.flatnonzero(part.alive)
            for start in range(0, len(rows), batch):
                some = rows[start : start + batch]
                yield part.segment.ids.take(some), part.segment.codes(some)

    def _count(self) -> int:
        return self._current().count

    # closing

    def _close(self) -> None:
        if os.getpid() != self._process:
            return
        try:
            if not self._store.read_only and (self._writer or self._snapshot):
                self._save_cache()
        finally:
            if self._writer is not None:
                self._writer.close()
            self._store.close()

    def _save_cache(self) -> None:
        """Save the search structure if the saved one has fallen far behind.

        The items are safe without it, so a full disk is not an error here.
        """
        saved = cache.state(self.folder)
        with self._store.reading():
            last = saved.last if saved and saved.epoch == self._store.state().epoch else 0
            if self._store.entries(last) <= max(RECENT, RECENT_SHARE * self._store.entries()):
                return
        snapshot = self._current()
        if not snapshot.parts:
            return
        with suppress(OSError, UserError):
            cache.save(self.folder, snapshot.as_one_segment(), snapshot.state)


def open_local(address: str, *, layout: Layout | None, model: str | None, read_only: bool) -> LocalIndex:
    """Open the index in a folder, or create it. See :func:`pts3h.open_index`."""
    if "://" in address:
        raise UserError(f"cannot open {address!r}: the local engine takes the path of a folder")
    return LocalIndex(Path(address).expanduser(), layout, model, read_only)
