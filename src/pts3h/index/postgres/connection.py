"""Connections to one database: every call ends, with an answer or with one line that says what is wrong.

Threads share an index, and each call has a connection of its own meanwhile: one that is idle, or a new one.
A server that cannot be reached is tried again a few times with growing pauses, over a new connection; what
is run through here can be repeated without harm. Any other failure is an error at once.
"""

import logging
import math
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from ...errors import UnencryptedWarning, UserError
from ...util.addresses import on_this_machine
from ...util.turns import Turns
from ..patience import Patience
from .address import Address

MOST = 8  # connections that calls have at once; a server has a hundred for everybody
# Who gives up first knows best why: the server at a lock, then the server, then the client.
STATEMENT_LATER, CLIENT_LATER = 1.0, 2.0
FATAL = "FATAL:"  # how a server begins when it shows somebody the door
AGAIN = ("08", "40001", "40P01", "57P")  # lost, overtaken, deadlock, the server is going down

Result = TypeVar("Result")

# It logs what it also raises, and what it does about a connection that is lost anyway.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)


class TimedOut(psycopg.OperationalError):
    """The server said nothing for too long."""


class Connection(psycopg.Connection[TupleRow]):
    """A connection on which nothing waits for ever, whatever becomes of the server or the network."""

    longest = math.inf  # seconds without an answer

    def wait(self, gen: PQGen[RV], *arguments: Any, **named: Any) -> RV:
        """As every request waits for its answer."""
        return super().wait(self._bounded(gen), *arguments, **named)

    def _bounded(self, gen: PQGen[RV]) -> Generator[Any, Any, RV]:
        deadline = time.monotonic() + self.longest
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline:
                    self.pgconn.finish()  # so that nobody waits for it once more, to roll back
                    raise TimedOut("no answer")
                wanted = gen.send(ready)
        except StopIteration as ended:
            result: RV = ended.value
            return result


class Connections:
    """Connections to the database of an address. Threads can share them.

    Args:
        address: where the database is.
        patience: how long to wait, and how often to try again.
        password: instead of the one in the address, in ``$PGPASSWORD`` or in libpq's password file.
        settings: of the server, for each connection.
    """

    def __init__(
        self, address: str, patience: Patience, password: str | None, settings: Mapping[str, str]
    ) -> None:
        self.address, self._patience = Address.parse(address), patience
        parameters = self.address.parameters | ({} if password is None else {"password": password})
        self._conninfo = make_conninfo(**parameters)
        self._secret = parameters.get("password")
        self._settings = {
            "statement_timeout": f"{_milliseconds(patience.timeout + STATEMENT_LATER)}",
            "lock_timeout": f"{_milliseconds(patience.timeout)}",
        } | dict(settings)
        self._lock = threading.Lock()  # guards the next two
        self._idle: list[Connection] = []
        self._closed = self._warned = False
        self._turns = Turns(MOST)

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """What ``work`` returns; it is called again, with another connection, if this one is lost."""
        pauses = self._patience.pauses()
        while True:
            try:
                with self._turns, self._borrowed() as connection:
                    return work(connection)
            except psycopg.Error as error:
                if not _lost(error) or (pause := next(pauses, None)) is None:
                    raise self._explained(error) from error
            self._drop_idle()  # they are of the same server, and as old
            time.sleep(pause)

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A connection for longer than a call, beside the others; it is not tried again."""
        try:
            with self._connect() as connection:
                yield connection
        except psycopg.Error as error:
            raise self._explained(error) from error

    def close(self) -> None:
        """Disconnect; what is under way ends first."""
        with self._lock:
            self._closed = True
        self._drop_idle()

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            at_rest = connection.info.transaction_status == pq.TransactionStatus.IDLE
            with self._lock:
                keep = at_rest and not self._closed
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def _connect(self) -> Connection:
        try:
            connection = Connection.connect(
                self._conninfo,
                autocommit=True,
                prepare_threshold=None,  # so that plans fit the values, and poolers need no memory
                client_encoding="UTF8",
                connect_timeout=math.ceil(self._patience.timeout),
                fallback_application_name="pts3h",
            )
        except psycopg.OperationalError as error:
            if self._refused(error):
                raise self._explained(error) from error
            raise
        try:
            connection.longest = self._patience.timeout + CLIENT_LATER
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # a call sees one moment
            self._warn_if_readable(connection)
            for name, value in self._settings.items():
                connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        except BaseException:
            connection.close()
            raise
        return connection

    def _refused(self, error: psycopg.OperationalError) -> bool:
        """Whether there is a server that does not want us. libpq tells by words alone that it spoke."""
        if error.pgconn is not None and error.pgconn.needs_password:
            return True
        # while it starts it refuses everybody
        return FATAL in str(error) and pq.PGconn.ping(self._conninfo.encode()) != pq.Ping.REJECT

    def _warn_if_readable(self, connection: Connection) -> None:
        wire, host = connection.pgconn, connection.info.host
        readable = wire.used_password and not wire.ssl_in_use
        if readable and not self._warned and not host.startswith("/") and not on_this_machine(host):
            self._warned = True
            warnings.warn(
                f"the password went to {self.address.server} over a connection that is not encrypted: add "
                "?sslmode=require to the address",
                UnencryptedWarning,
                stacklevel=2,
            )

    def _explained(self, error: psycopg.Error) -> UserError:
        """One line that says what is wrong, and what to do."""
        place, seconds = self.address.server, f"{self._patience.timeout:g} s"
        server = f"the Postgres server {place}"
        said = (error.diag.message_primary or str(error)).strip().partition("\n")[0]
        if self._secret:
            said = said.replace(self._secret, "...")
        match error:
            case errors.LockNotAvailable():
                return UserError(
                    f"another program has been holding this table on {place} for {seconds}; try again later, "
                    "or give a larger timeout="
                )
            case TimedOut() | errors.ConnectionTimeout() | errors.QueryCanceled():
                return UserError(
                    f"{server} did not answer within {seconds}; look at its load, or give a larger timeout="
                )
            case errors.InsufficientPrivilege():
                return UserError(
                    f"{server} reports: {said}; to search takes SELECT on the table, to write INSERT and "
                    "DELETE too, to make an index CREATE on its schema; the first add takes the owner"
                )
            case errors.ReadOnlySqlTransaction():
                return UserError(f"{server} is read-only; write to the primary, or open with read_only=True")
            case errors.UndefinedTable():
                return UserError(f"{server} reports: {said}; was the table dropped?")
        if error.pgconn is not None and error.pgconn.needs_password:
            return UserError(f"{server} asks for a password; set PGPASSWORD or give password=")
        if error.sqlstate is None and FATAL in said:
            said = said.partition(FATAL)[2].strip()
            return UserError(f"{server} refused the connection: {said}; check user, password and database")
        if _lost(error):
            return UserError(
                f"cannot reach a Postgres server at {place} (attempts: {self._patience.retries + 1}): "
                f"{said}; is it running, and is the address right?"
            )
        return UserError(f"{server} reports: {said}")


def _lost(error: psycopg.Error) -> bool:
    """Whether the same may succeed over another connection."""
    if isinstance(error, (TimedOut, errors.ConnectionTimeout)):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(AGAIN)


def _milliseconds(seconds: float) -> int:
    return min(math.ceil(1000 * seconds), 2**31 - 1)  # as Postgres counts
