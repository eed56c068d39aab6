"""The truth of a local index: one SQLite file that survives a crash at any moment.

Codes live in ``log``: each record removes some ids and adds some ids with their codes, as blobs. An index
holds what remains after all records in order. Writing a batch writes one row, and a reader catches up by
reading the rows after the last one it knows. Small records are merged as they arrive, like carries in a
counter, so there are few of them.
"""

import secrets
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...codes import Codes, Layout, code_bytes
from ...errors import UserError
from ...util.files import explain_os_errors
from ..contract import IdKind, check_held_layout, check_kind, check_model, kind_of
from . import metadata
from .ids import decode_ids, encode_ids

FILE = "index.sqlite"
FORMAT = 2
PLAIN_FORMAT = 1  # what it was before codes could have two parts
# The most items in one record: half a megabyte at 64 bits.
RECORD = 32_768
BUSY_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE info (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE log (last INTEGER PRIMARY KEY, size INTEGER, checksum INTEGER, gone BLOB, ids BLOB, codes BLOB);
"""


@dataclass(frozen=True)
class LogRecord:
    """One entry of the log: first the ids in ``gone`` are removed, then ``ids`` are set to ``codes``."""

    gone: list[Any]
    ids: list[Any]
    codes: Codes

    @property
    def size(self) -> int:
        """How many ids it names."""
        return len(self.gone) + len(self.ids)

    def then(self, later: "LogRecord") -> "LogRecord":
        """Both records as one; the later one wins."""
        codes = dict(zip(self.ids, self.codes, strict=True))
        for one in later.gone:
            codes.pop(one, None)
        codes.update(zip(later.ids, later.codes, strict=True))
        gone = dict.fromkeys(self.gone) | dict.fromkeys(later.gone)
        kept = [one for one in gone if one not in codes]
        stacked = np.stack(list(codes.values())) if codes else later.codes[:0]
        return LogRecord(kept, list(codes), stacked)


@dataclass(frozen=True)
class State:
    """How far the log was read. A log that is rewritten begins a new ``epoch``."""

    epoch: str
    last: int


class Store:
    """One connection to the SQLite file, shared by the threads of this process under a lock."""

    def __init__(self, folder: Path, layout: Layout | None, model: str | None, read_only: bool) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.read_only = read_only
        self.lock = threading.RLock()
        self._frozen = False  # True if nobody can be writing
        with self._explained():
            self._connection = self._connect(layout, model)
            self.metadata = metadata.Metadata(self._connection)
            try:
                self._check(layout, model)
            except BaseException:
                self._connection.close()
                raise

    # opening

    def _connect(self, layout: Layout | None, model: str | None) -> sqlite3.Connection:
        nothing = UserError(f"there is no index at {self.folder}; check the path, or give bits= to create it")
        if not self.path.exists() and (layout is None or self.read_only):
            raise nothing
        if self.read_only:
            return self._connect_read_only()
        with explain_os_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        connection = self._open(self.path.absolute().as_uri())
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # an add that has returned survives even a power cut
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            if layout is None:
                connection.close()
                raise nothing
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():  # nobody was quicker
                for statement in (_SCHEMA + metadata.SCHEMA).split(";"):
                    connection.execute(statement)
                connection.executemany("INSERT INTO info VALUES (?, ?)", _first_info(layout, model).items())
            connection.execute("COMMIT")
        return connection

    def _connect_read_only(self) -> sqlite3.Connection:
        """Without permission to write, SQLite may be unable to create the files that readers share."""
        address = self.path.absolute().as_uri()
        try:
            connection = self._open(f"{address}?mode=ro")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:
            waiting = self.path.with_name(f"{FILE}-wal")
            if waiting.exists() and waiting.stat().st_size:
                raise
            self._frozen = True
            return self._open(f"{address}?mode=ro&immutable=1")

    @staticmethod
    def _open(address: str) -> sqlite3.Connection:
        return sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
        )

    def _check(self, layout: Layout | None, model: str | None) -> None:
        try:
            info = dict(self._connection.execute("SELECT name, value FROM info"))
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            raise UserError(f"{self.path} is a database of something else, not an index") from error
        if info.get("format") not in (PLAIN_FORMAT, FORMAT):
            held = info.get("format")
            raise UserError(f"{self.path} has format {held}, this version of pts3h reads format {FORMAT}")
        self.layout = Layout(info["bits"], info.get("look", 0), info.get("weight", 1))
        check_held_layout(self.layout, layout, self.folder)
        check_model(info["model"], model, self.folder)
        self.model: str | None = info["model"]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of SQLite into one line with advice."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.DatabaseError) -> UserError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._damaged()
        advice = {
            sqlite3.SQLITE_FULL: "the disk is full; free some space and run again",
            sqlite3.SQLITE_READONLY: "no permission to write there; open it with read_only=True",
            sqlite3.SQLITE_CANTOPEN: "no permission to write there; open it with read_only=True",
            sqlite3.SQLITE_BUSY: "another process has been writing for a minute; run again when it is done",
            sqlite3.SQLITE_IOERR: "the disk cannot be read or written; is it full, over a quota or failing?",
        }.get(code, str(error))
        return UserError(f"cannot use the index {self.folder}: {advice}")

    def _damaged(self) -> UserError:
        return UserError(
            f"the database {self.path} is damaged; restore it from a backup, or remove {self.folder} "
            "and index again"
        )

    # transactions

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside is of one moment."""
        with self.lock, self._explained():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Either everything inside is written, or nothing is."""
        with self.lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def version(self) -> int:
        """A number that changes when another connection has written. Cheap."""
        if self._frozen:
            return 0
        with self.lock, self._explained():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the file; the last connection to close merges the write-ahead log into it."""
        with self.lock, self._explained():
            self._connection.close()

    # codes, inside a transaction

    def state(self) -> State:
        """How far the log reaches now."""
        last = self._connection.execute("SELECT max(last) FROM log").fetchone()[0]
        return State(str(self._info("epoch")), last or 0)

    def kind(self) -> IdKind | None:
        """The kind of the ids, None before the first add."""
        held: IdKind | None = self._info("kind")
        return held

    def _info(self, name: str) -> Any:
        return self._connection.execute("SELECT value FROM info WHERE name = ?", (name,)).fetchone()[0]

    def entries(self, after: int = 0) -> int:
        """How many ids the records after ``after`` name in all, whether their items still exist or not."""
        query = "SELECT total(size) FROM log WHERE last > ?"
        return int(self._connection.execute(query, (after,)).fetchone()[0])

    def since(self, last: int) -> list[LogRecord]:
        """The records after ``last``, in order. They may repeat earlier changes, which does no harm."""
        rows = self._connection.execute(
            "SELECT checksum, gone, ids, codes FROM log WHERE last > ? ORDER BY last", (last,)
        )
        held = self.kind()
        return [self._record(held, *row) for row in rows]

    def _record(self, held: IdKind | None, checksum: int, gone: bytes, ids: bytes, codes: bytes) -> LogRecord:
        if held is None or checksum != _checksum(gone, ids, codes):
            raise self._damaged()
        array = np.frombuffer(codes, np.uint8).reshape(-1, code_bytes(self.layout.bits))
        return LogRecord(decode_ids(gone, held), decode_ids(ids, held), array)

    def append(self, record: LogRecord) -> None:
        """Write a record, merged with the small ones just before it."""
        given = kind_of(record.ids or record.gone)
        held = self.kind()
        check_kind(given, held)
        if held is None:
            self._connection.execute("UPDATE info SET value = ? WHERE name = 'kind'", (given,))
        last = self.state().last
        query = "SELECT last, size, checksum, gone, ids, codes FROM log ORDER BY last DESC LIMIT 1"
        while (row := self._connection.execute(query).fetchone()) is not None:
            place, size, *blobs = row
            if size > record.size or size + record.size > RECORD:
                break
            record = self._record(given, *blobs).then(record)
            self._connection.execute("DELETE FROM log WHERE last = ?", (place,))
        self._insert(last + 1, record)

    def _insert(self, last: int, record: LogRecord) -> None:
        for start in range(0, max(1, len(record.ids)), RECORD):
            gone = encode_ids(record.gone if start == 0 else [])
            ids = encode_ids(record.ids[start : start + RECORD])
            codes = record.codes[start : start + RECORD].tobytes()
            size = len(record.ids[start : start + RECORD]) + (len(record.gone) if start == 0 else 0)
            self._connection.execute(
                "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
                (last, size, _checksum(gone, ids, codes), gone, ids, codes),
            )
            last += 1

    def rewrite(self, record: LogRecord) -> State:
        """Replace the whole log by one record; readers notice the new epoch and read everything."""
        self._connection.execute("DELETE FROM log")
        epoch = _new_epoch()
        self._connection.execute("UPDATE info SET value = ? WHERE name = 'epoch'", (epoch,))
        if record.size:
            self._insert(1, record)
        return self.state()


def _first_info(layout: Layout, model: str | None) -> dict[str, Any]:
    """What a new index knows of itself; the kind of its ids comes with the first of them."""
    bits = {"bits": layout.meaning, "look": layout.look, "weight": layout.weight}
    return {"format": FORMAT, **bits, "model": model, "kind": None, "epoch": _new_epoch()}


def _new_epoch() -> str:
    return secrets.token_hex(8)


def _checksum(*blobs: bytes) -> int:
    total = 0
    for blob in blobs:
        total = zlib.crc32(blob, zlib.crc32(len(blob).to_bytes(8, "little"), total))
    return total
