"""The log of what was said: one SQLite file that only grows and survives a crash at any moment.

Each row is an event: an answer, or the undoing of one. Nothing is ever changed or removed. A row's digest
covers the row and the digest before it, so that no damage is taken for what somebody said.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..util.files import explain_os_errors, make_folder, write_first

APPLICATION = 0x50543348  # "PT3H": what tells our file from other databases
FORMAT = 1
BUSY_SECONDS = 60.0
SCHEMA = """CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    said TEXT NOT NULL,
    digest BLOB NOT NULL
)"""
Row = tuple[int, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the log. ``said`` holds what this kind of event says."""

    number: int
    at: str
    who: str
    model: str
    kind: str
    said: dict[str, Any]


def digest_of(row: Row, before: bytes) -> bytes:
    """What a row is known by, after another."""
    return sha256(before + json.dumps(row).encode()).digest()


def new_database() -> bytes:
    """A file without any event."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        return connection.serialize()


class Log:
    """One connection to the file, shared by the threads of this process under a lock.

    Args:
        path: of the file; it is made where there is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.lock = threading.RLock()
        self._read = 0, b""  # number and digest of the last event that was read
        with self._explained():
            self._begin()
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _begin(self) -> None:
        """Make the file where there is none, at once and whole: an empty one is one that lost its answers."""
        with explain_os_errors(self.path):
            make_folder(self.path.parent)
            if not self.path.exists():
                for left in ("-wal", "-shm"):  # of a file that somebody removed
                    self.path.with_name(self.path.name + left).unlink(missing_ok=True)
                write_first(self.path, lambda file: file.write(new_database()))

    def _prepare(self) -> None:
        """Make sure that the file is one of ours."""
        run = self._connection.execute
        if not run("SELECT 1 FROM sqlite_master").fetchone():
            raise self.damaged()
        self._check()
        if run("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise UserError(
                f"the disk of {self.path} cannot share memory between programs, as some network disks; "
                "keep the answers on a local disk"
            )
        run("PRAGMA synchronous = FULL")  # an answer that was acknowledged survives even a power cut

    def _check(self) -> None:
        run = self._connection.execute
        if run("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise UserError(f"{self.path} is a database of something else, not answers: give another path")
        (held,) = run("PRAGMA user_version").fetchone()
        if held != FORMAT:
            raise UserError(
                f"{self.path} has format {held}, this version of pts3h reads format {FORMAT}: use a newer one"
            )
        if run("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self.damaged()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Either everything that is appended inside is on disk afterwards, or nothing is."""
        with self.lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def append(self, kind: str, said: Mapping[str, Any], *, who: str, model: str) -> int:
        """Write an event, inside of :meth:`writing`, and return its number."""
        run = self._connection.execute
        last = run("SELECT number, digest FROM events ORDER BY number DESC LIMIT 1").fetchone()
        number, before = last or (0, b"")
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = number + 1, at, who, model, kind, json.dumps(said)
        run("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, digest_of(row, before)))
        return number + 1

    def news(self) -> list[Event]:
        """What was appended since the last call, by this process or another."""
        with self.lock, self._explained():
            (number, before), found = self._read, []
            rows = self._connection.execute(
                "SELECT * FROM events WHERE number > ? ORDER BY number", (number,)
            )
            for place, at, who, model, kind, said, digest in rows:
                if place != number + 1 or digest_of((place, at, who, model, kind, said), before) != digest:
                    raise self.damaged()
                number, before = place, digest
                found.append(Event(place, at, who, model, kind, json.loads(said)))
            self._read = number, before
        return found

    def close(self) -> None:
        """Close the file; the last connection to close merges the write-ahead log into it."""
        with self.lock, self._explained():
            self._connection.close()

    # errors

    def damaged(self) -> UserError:
        """The file holds what nobody has written."""
        return UserError(
            f"the answers in {self.path} are damaged: restore the file from a backup, or remove it to begin "
            "anew"
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of SQLite into one line with advice."""
        try:
            yield
        except (UnicodeDecodeError, TypeError) as error:  # values of other types than any that were written
            raise self.damaged() from error
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.DatabaseError) -> UserError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        foreign = ("no such table", "no such column", "Could not decode")
        if code == sqlite3.SQLITE_NOTADB:
            return UserError(f"{self.path} is not a database of answers: give another path")
        if code == sqlite3.SQLITE_CORRUPT or any(words in str(error) for words in foreign):
            return self.damaged()
        return UserError(f"cannot use the answers in {self.path}: {error}; is the disk full or read-only?")
