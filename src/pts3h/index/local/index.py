"""The local engine: one folder, in which SQLite holds the truth; the kernel searches.

A search works on a :class:`Snapshot` that never changes, so any number of threads can use it. Before each
search, one cheap question to SQLite tells whether anything was written. Only then is a new snapshot made.
Metadata is read over connections of their own, so that nobody waits for a filter but those who asked it.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...codes import By, Codes, Layout, code_bytes
from ...errors import UserError
from ...kernel.types import Allowed, Found
from ...util.addresses import shown_address
from ...util.cores import usable_cores
from ...util.memory import return_freed_memory, return_large_blocks
from ...util.turns import Turns
from ..contract import Hits, Index, Item, check_kind, check_writable, kind_of
from ..filters import Filter
from ..metadata import Meta
from . import cache, sums
from .filtering import Verdict, answers
from .log import LogRecord
from .metadata import Metadata
from .segment import Segment
from .snapshot import MANY, RECENT, RECENT_SHARE, LivePart, Snapshot
from .store import State, Store

# A log is rewritten when it names more than twice as many ids as there are items, and this many besides.
GARBAGE = 65_536
# So many connections that read metadata stay open between two calls.
KEPT_READERS = 4
# Searches of at most so many queries take turns, so many at once for each core. With one, a core would stand
# idle until the next thread has woken up; with all, those that run take the interpreter's lock over and over.
FEW = 16
TURNS_PER_CORE = 8

# A search is over in a moment if it looks through so many bytes of codes: less than half a millisecond.
# Lookups now and then meet a query with too many rows, and look through all codes: no more than these.
MOMENT_BYTES = 4 * 2**20
LOOKUP_BYTES = 64 * 2**20

Look = Callable[[Segment, Allowed | None], Found]  # through the allowed rows of a part


class LocalIndex(Index):
    """An index in a folder. Use :func:`pts3h.open_index`."""

    def __init__(self, folder: Path, layout: Layout | None, model: str | None, read_only: bool) -> None:
        self.folder = folder.absolute()
        self._store = Store(folder, layout, model, read_only)
        self._writer: Store | None = None  # a connection of its own, so that readers never wait for a write
        self._readers: list[Store] = []  # of metadata, those that nobody uses now
        self.layout, self.model = self._store.layout, self._store.model
        self._lock = threading.RLock()  # guards the attributes above and below
        self._snapshot: Snapshot | None = None
        self._version = -1  # of the store when the snapshot was made
        self._tidy_at = GARBAGE
        self._whole = False  # whether the file was checked; what it says of itself is not enough
        self._process = os.getpid()
        self._turns = Turns(TURNS_PER_CORE * usable_cores())
        return_large_blocks()  # whichever thread comes first makes the next snapshot: each would keep its own

    def _drop_cache(self) -> None:
        if not self._store.read_only and self._store.in_place:
            (self.folder / cache.FILE).unlink(missing_ok=True)

    def _check_open(self) -> None:
        super()._check_open()
        if os.getpid() != self._process:  # SQLite must not be used across a fork
            raise UserError("the index was opened before this process was forked; open it again in this one")
        if time.monotonic() >= self._store.look_again:
            self._store.check_in_place()

    # writing

    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        self._write([], ids, codes, meta)

    def _remove(self, ids: list[Any]) -> None:
        empty = np.empty((0, code_bytes(self.bits)), np.uint8)
        with self._store.reading():
            held = self._store.info().kind
        if held is not None:
            self._write(list(dict.fromkeys(ids)), [], empty, [])

    def _write(self, gone: list[Any], ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        writer = self._open_writer()
        with writer.writing():
            writer.append(LogRecord(gone, ids, codes))
            if gone:
                writer.metadata.drop(gone)
            if ids:
                writer.metadata.put(ids, meta)
            entries = writer.log.entries()
        writer.check_in_place()
        if entries > self._tidy_at:
            with suppress(UserError):  # the items are stored; tidying up can wait for a better moment
                self._tidy(writer)

    def _open_writer(self) -> Store:
        check_writable(self._store.read_only, self.folder)
        with self._lock:
            if self._writer is None:
                self._writer = self._store.another()
                with self._writer.reading():
                    self._check_whole(self._writer)
            return self._writer

    def _tidy(self, writer: Store) -> None:
        """Rewrite the log if most of the ids it names are gone."""
        with writer.writing():
            snapshot = self._caught_up(writer)
            state = snapshot.state
            if writer.log.entries() > 2 * snapshot.count + GARBAGE:
                state = writer.rewrite(LogRecord([], *snapshot.entries()))
            self._tidy_at = 2 * writer.log.entries() + GARBAGE
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
            info = store.info()
            state = State(info.epoch, store.log.last())
            snapshot = self._snapshot or self._from_cache(info.cache)
            if snapshot is None or snapshot.state != state:
                self._check_whole(store)
            if snapshot is None or snapshot.state.epoch != state.epoch or snapshot.state.last > state.last:
                snapshot = Snapshot(self.layout, State(state.epoch, 0), [], info.kind)
            if snapshot.state != state:
                records = store.log.since(snapshot.state.last, info.kind)
                snapshot = snapshot.after(records, info.kind, state)
            self._snapshot = snapshot
            return snapshot

    def _check_whole(self, store: Store) -> None:
        """Before the database is believed for the first time; only called inside a transaction."""
        if not self._whole:
            store.check_whole()
            self._whole = True

    def _from_cache(self, digest: str | None) -> Snapshot | None:
        loaded = cache.load(self.folder, self.layout, digest)
        if loaded is None:
            self._drop_cache()  # so that a valid one is saved on closing
            return None
        segment, state = loaded
        return Snapshot(self.layout, state, [LivePart(segment)], segment.kind)

    @contextmanager
    def _moment(self) -> Iterator[tuple[Snapshot, Store]]:
        """A snapshot and a reader of the same moment, for as long as it takes; nobody waits for it."""
        with self._lock:
            reader = self._readers.pop() if self._readers else None
        reader = reader or self._store.another()
        try:
            with reader.reading():
                with self._lock:  # the first reading is in here, so that no moment is older than a snapshot
                    snapshot = self._caught_up(reader)
                    self._check_whole(reader)
                yield snapshot, reader
        finally:
            with self._lock:
                keep = not self._closed and len(self._readers) < KEPT_READERS
                if keep:
                    self._readers.append(reader)
            if not keep:
                reader.close()

    # reading

    def at_hand(self, queries: int = 1, *, by: By = "both", radius: int | None = None) -> bool:
        """See :meth:`Index.at_hand`. It waits for nobody, and is meant to be asked before every search."""
        snapshot = self._unchanged() if not self._closed and self._turns.free else None
        if snapshot is None:
            return False
        through = at_worst = 0
        for part in snapshot.parts:
            if (effort := part.segment.effort(by, radius)) is None:
                return False
            through += queries * effort.through
            at_worst += queries * effort.at_worst
        return through <= MOMENT_BYTES and at_worst <= LOOKUP_BYTES

    def _unchanged(self) -> Snapshot | None:
        """The snapshot, if nothing was written since it was made and nobody is making another."""
        if not self._store.lock.acquire(blocking=False):
            return None
        try:
            if not self._lock.acquire(blocking=False):
                return None
            try:
                return self._snapshot if self._version == self._store.version() else None
            finally:
                self._lock.release()
        finally:
            self._store.lock.release()

    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]:
        return self._found(queries, k, where, lambda segment, mask: segment.nearest(queries, k, mask, by))

    def _search_within(self, queries: Codes, k: int, radius: int, where: Filter | None, by: By) -> list[Hits]:
        def look(segment: Segment, mask: Allowed | None) -> Found:
            return segment.nearest_within(queries, k, radius, mask, by)

        return [hits.up_to(radius) for hits in self._found(queries, k, where, look)]

    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]:
        return self._found(
            queries, None, where, lambda segment, mask: segment.within(queries, radius, mask, by)
        )

    def _found(self, queries: Codes, k: int | None, where: Filter | None, look: Look) -> list[Hits]:
        """What is found by looking through each part, the first k of each query."""
        view = None if where is None else self._view(where)  # nobody waits for a filter
        with self._turn(queries):
            snapshot, masks = view or self._view(None)
            both = zip(snapshot.parts, masks, strict=True)
            found = [look(part.segment, mask) for part, mask in both]
            return snapshot.hits(found, len(queries), k)

    def _turn(self, queries: Codes) -> AbstractContextManager[None]:
        """Searches of a few queries take turns. A long one does not: nobody should wait until it is over."""
        return self._turns if len(queries) <= FEW else nullcontext()

    def _view(self, where: Filter | None) -> tuple[Snapshot, list[Allowed | None]]:
        """A snapshot and, for each part, which rows count."""
        snapshot = self._current()
        if where is None:
            return snapshot, [part.alive for part in snapshot.parts]
        key = repr(where)
        masks = [part.allowed(key) for part in snapshot.parts]
        if all(mask is not None for mask in masks):
            return snapshot, masks
        with self._moment() as (snapshot, reader):
            return snapshot, [*self._judged(snapshot, where, key, reader.metadata)]

    @staticmethod
    def _judged(snapshot: Snapshot, where: Filter, key: str, metadata: Metadata) -> list[Allowed]:
        """Which rows of each part pass, once those that are not known were asked about."""
        held = [part.verdict(key) for part in snapshot.parts]  # others may forget it meanwhile
        unknown = [part.unknown(verdict) for part, verdict in zip(snapshot.parts, held, strict=True)]
        runs = [part.segment.ids for part in snapshot.parts]
        passed = answers(where, list(zip(runs, unknown, strict=True)), metadata)
        new = map(Verdict, passed, unknown)
        both = [
            more if verdict is None else verdict.then(more) for verdict, more in zip(held, new, strict=True)
        ]
        masks = [part.learn(key, verdict) for part, verdict in zip(snapshot.parts, both, strict=True)]
        if sum(map(np.count_nonzero, unknown)) > MANY:
            return_freed_memory()
        return masks

    def _get(self, ids: list[Any]) -> list[Item | None]:
        with self._moment() as (snapshot, reader):
            check_kind(kind_of(ids), snapshot.kind)
            meta = reader.metadata.get(ids)
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
            rows = part.rows
            for start in range(0, len(rows), batch):
                some = rows[start : start + batch]
                yield part.segment.ids.take(some), part.segment.codes(some)

    def _count(self) -> int:
        return self._current().count

    # closing

    def _close(self) -> None:
        if os.getpid() != self._process:
            return
        moment = None
        try:
            if not self._store.read_only and (self._writer or self._snapshot) and self._store.in_place:
                self._save_cache()
                with self._store.reading():
                    moment = self._store.moment()
        finally:
            for store in (*self._readers, *([self._writer] if self._writer else []), self._store):
                store.close()
        if moment is not None:
            sums.save(self._store.path, moment)

    def _save_cache(self) -> None:
        """Save the search structure if the saved one has fallen far behind.

        The items are safe without it, so a full disk is not an error here.
        """
        with self._store.reading():
            info, log = self._store.info(), self._store.log
            saved = cache.state(self.folder, info.cache)
            last = saved.last if saved and saved.epoch == info.epoch else 0
            if log.entries(last) <= max(RECENT, RECENT_SHARE * log.entries()):
                return
        snapshot = self._current()
        if not snapshot.parts:
            return
        with suppress(OSError, UserError):
            digest = cache.save(self.folder, snapshot.as_one_segment(), snapshot.state)
            writer = self._open_writer()
            with writer.writing():
                writer.change_info(cache=digest)


def open_local(address: str, *, layout: Layout | None, model: str | None, read_only: bool) -> LocalIndex:
    """Open the index in a folder, or create it. See :func:`pts3h.open_index`."""
    if "://" in address:
        raise UserError(
            f"cannot open {shown_address(address)!r}: the local engine takes the path of a folder"
        )
    return LocalIndex(Path(address).expanduser(), layout, model, read_only)
