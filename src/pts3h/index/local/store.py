"""The truth of a local index: one SQLite file that survives a crash at any moment.

A store is one connection to it: opening and creating, transactions, and errors in one line. What is in the
file is told by :mod:`.info`, :mod:`.log` and :mod:`.metadata`.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...codes import Layout
from ...errors import UserError
from ...util.files import explain_os_errors, make_folder, sync_folder
from ..contract import check_held_layout, check_kind, check_model
from . import info, log, metadata, sums
from .damage import Damage
from .info import Info
from .log import LogRecord

FILE = "index.sqlite"
BUSY_SECONDS = 60.0
LOOK_SECONDS = 0.1  # before a search, it is enough to have looked so lately whether the file is in place


@dataclass(frozen=True)
class State:
    """How far the log was read. A log that is rewritten begins a new ``epoch``."""

    epoch: str
    last: int


class Store:
    """One connection to the SQLite file, shared by the threads of this process under a lock.

    Args:
        folder: where the file is.
        layout: what the bits of the codes must be; without it, no index is created.
        model: fingerprint of the model that the index must be of, or None.
        read_only: never write.

    Attributes:
        look_again: by the monotonic clock, when a reader should look again whether the file is in place.
    """

    def __init__(self, folder: Path, layout: Layout | None, model: str | None, read_only: bool) -> None:
        self.folder = folder
        self.path = folder.absolute() / FILE  # the same place, even after a change of the current folder
        self.read_only = read_only
        self.lock = threading.RLock()
        self._frozen = False  # True if nobody can be writing
        self._has_written = False
        # what was read last, and what it says; None once this connection has changed it
        self._known: tuple[dict[str, Any], Info] | None = None
        self._known_at = -1  # which version of the database that was
        with self._explained():
            before = self._identity_now()
            self._connection = self._connect(layout, model, before is not None)
            try:
                self._identity = self._identity_now()
                self.look_again = time.monotonic() + LOOK_SECONDS
                if before not in (None, self._identity):
                    raise self._moved()
                self._check(layout, model)
            except BaseException:
                self._connection.close()
                raise

    # opening

    def _connect(self, layout: Layout | None, model: str | None, there: bool) -> sqlite3.Connection:
        nothing = UserError(f"there is no index at {self.folder}; check the path, or give bits= to create it")
        if not there and (layout is None or self.read_only):
            raise nothing
        if self.read_only:
            return self._connect_read_only()
        if not there:
            with explain_os_errors(self.folder):
                make_folder(self.path.parent)
        connection = self._open(f"{self.path.as_uri()}?mode={'rw' if layout is None else 'rwc'}")
        try:
            self._prepare(connection)
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                if layout is None:
                    raise nothing
                self._create(connection, layout, model)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise UserError(
                f"the disk of {self.folder} cannot share memory between programs, as some network disks; "
                "keep the index on a local disk"
            )
        connection.execute("PRAGMA synchronous = FULL")  # an add that has returned survives even a power cut

    def _create(self, connection: sqlite3.Connection, layout: Layout, model: str | None) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():  # nobody was quicker
            for statement in (info.SCHEMA + log.SCHEMA + metadata.SCHEMA).split(";"):
                connection.execute(statement)
            info.write_first_info(connection, layout, model)
        connection.execute("COMMIT")
        sync_folder(self.path.parent)

    def _connect_read_only(self) -> sqlite3.Connection:
        """Without permission to write, SQLite may be unable to create the files that readers share."""
        address = self.path.as_uri()
        connection = self._open(f"{address}?mode=ro")
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            waiting = self.path.with_name(f"{FILE}-wal")
            if waiting.exists() and waiting.stat().st_size:
                raise UserError(
                    f"the last changes of {self.folder} wait in {waiting.name}, which cannot be read without "
                    "permission to write: open the index once where that is allowed, or a copy of the folder"
                ) from error
            self._frozen = True
            return self._open(f"{address}?mode=ro&immutable=1")

    @staticmethod
    def _open(address: str) -> sqlite3.Connection:
        return sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
        )

    def _check(self, layout: Layout | None, model: str | None) -> None:
        try:
            held = info.held_format(self._connection)
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            raise UserError(f"{self.path} is a database of something else, not an index") from error
        if held not in range(1, info.FORMAT + 1):
            raise UserError(
                f"{self.path} has format {held}, this version of pts3h reads format {info.FORMAT} and before"
            )
        known = self.info()
        self.layout = known.layout
        self.model: str | None = known.model
        check_held_layout(self.layout, layout, self.folder)
        check_model(known.model, model, self.folder)
        self.log = log.Log(self._connection, known)
        self.metadata = metadata.Metadata(self._connection, known)

    # one file for ever

    def _identity_now(self) -> tuple[int, int] | None:
        try:
            state = self.path.stat()
        except OSError:
            return None
        return state.st_dev, state.st_ino

    @property
    def in_place(self) -> bool:
        """Whether the file that was opened is still where it was."""
        return self._identity is not None and self._identity == self._identity_now()

    def check_in_place(self) -> None:
        """Raise if the file was replaced or removed: what is written to it now, nobody else would find."""
        if not self.in_place:
            self.look_again = 0.0
            raise self._moved()
        self.look_again = time.monotonic() + LOOK_SECONDS

    def another(self) -> "Store":
        """Another connection to the same file."""
        self.check_in_place()
        other = Store(self.path.parent, None, None, self.read_only)
        if other._identity != self._identity:
            other.close()
            raise self._moved()
        return other

    # errors

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of SQLite into one line with advice."""
        try:
            yield
        except Damage as error:
            raise self._damaged() from error
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error
        except UnicodeDecodeError as error:  # SQLite quotes what it does not understand
            raise self._damaged() from error

    def _explain(self, error: sqlite3.DatabaseError) -> UserError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        foreign = ("no such table", "no such column", "Could not decode", "columns but", "JSON cannot hold")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or any(
            words in str(error) for words in foreign
        ):
            return self._damaged()
        advice = {
            sqlite3.SQLITE_FULL: "the disk is full; free some space and run again",
            sqlite3.SQLITE_READONLY: "no permission to write there; open it with read_only=True",
            sqlite3.SQLITE_CANTOPEN: "no permission to write there; open it with read_only=True",
            sqlite3.SQLITE_BUSY: "another process has been writing for a minute; run again when it is done",
            sqlite3.SQLITE_IOERR: "the disk cannot be read or written; is it full, over a quota or failing?",
        }.get(code, str(error))
        return UserError(f"cannot use the index {self.folder}: {advice}")

    def _moved(self) -> UserError:
        return UserError(
            f"the index {self.folder} was replaced or removed while it was open; close it and open it again"
        )

    def _damaged(self) -> UserError:
        return UserError(
            f"the database {self.path} is damaged; restore it from a backup, or remove {self.folder} "
            "and index again"
        )

    # transactions

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside is of one moment, that of the first reading."""
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
                if not self._has_written:  # while this connection is open, nobody makes a checksum
                    sums.begin_moment(self._connection)
                yield
                self._connection.execute("COMMIT")
                self._has_written = True
            except BaseException:
                self._known = None
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def version(self) -> int:
        """A number that changes when another connection has written. Cheap."""
        if self._frozen:
            return 0
        try:  # each search asks: a context costs as much as the question
            with self.lock:
                return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error

    def close(self) -> None:
        """Close the file; the last connection to close merges the write-ahead log into it."""
        with self.lock, self._explained():
            self._connection.close()

    # inside a transaction

    def info(self) -> Info:
        """What the index knows of itself now."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if self._known is None or self._known_at != version:
            values = info.read_values(self._connection)
            self._known, self._known_at = (values, info.checked_info(values)), version
        return self._known[1]

    def change_info(self, **values: Any) -> None:
        """Set some of it."""
        self._known = None
        info.change_info(self._connection, **values)

    def state(self) -> State:
        """How far the log reaches now."""
        return State(self.info().epoch, self.log.last())

    def moment(self) -> str:
        """What tells this moment of the database from all others."""
        self.info()
        assert self._known is not None
        return sums.moment(self._connection, self._known[0])

    def check_whole(self) -> None:
        """Raise if the file is not the one that was closed."""
        sums.check(self.path, self.moment())

    def append(self, record: LogRecord) -> None:
        """Write a record; the first one decides the kind of ids."""
        given, held = record.kind, self.info().kind
        check_kind(given, held)
        if held is None:
            self.change_info(kind=given)
        self.log.append(record, given)

    def rewrite(self, record: LogRecord) -> State:
        """Replace the whole log by one record; readers notice the new epoch and read everything."""
        self.log.replace(record)
        self.change_info(epoch=info.new_epoch())
        return self.state()
