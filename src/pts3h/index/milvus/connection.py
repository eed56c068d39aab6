"""Calls to a Milvus server that always end, with an answer or with one line that says what is wrong.

Each request has a timeout. A server that cannot be reached is tried again a few times with growing pauses,
over a new connection; every call made through here can be repeated without harm. Any other failure is an
error at once.
"""

import logging
import os
import re
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import UnencryptedWarning, UserError
from ...util.addresses import on_this_machine, shown_address
from ..patience import Patience

OLDEST_SERVER = (2, 3)  # the first with JSON fields, upsert and count(*)
CONNECT_FAILED = 2  # pymilvus's code
DEFAULT_PORT = 19530
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


@dataclass(frozen=True)
class Address:
    """Where a collection is: ``milvus://host:port/collection``."""

    host: str
    port: int
    collection: str

    @classmethod
    def parse(cls, address: str) -> "Address":
        """Read an address, or raise an error that says what is wrong with it."""
        shape = "milvus://host:port/collection"
        if "@" in address:  # no part of such an address is shown: any may be a password
            raise UserError(
                f"keep the token out of the address: set MILVUS_TOKEN or give token=; write {shape}"
            )
        wrong = UserError(f"cannot read the address {shown_address(address)!r}; write {shape}")
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise wrong from None
        if not host or parts.query or parts.fragment:
            raise wrong
        name = parts.path.removeprefix("/")
        if not _NAME.fullmatch(name):
            raise UserError(
                "the name of a Milvus collection is up to 200 letters, digits and underscores, and does not "
                f"start with a digit; got {name!r}, write {shape}"
            )
        return cls(f"[{host}]" if ":" in host else host, port or DEFAULT_PORT, name)

    @property
    def server(self) -> str:
        """``host:port``, for requests and messages."""
        return f"{self.host}:{self.port}"


@dataclass(eq=False)
class _Client:
    """A client and how many calls it has under way: closing its channel during a call may crash gRPC."""

    milvus: Any
    calls: int = 0


class Connection:
    """A connection to one server. Threads can share it.

    Args:
        server: ``host:port``.
        token: ``user:password`` or an API key; by default ``$MILVUS_TOKEN``.
        tls: whether to encrypt; by default, if ``$MILVUS_TLS`` is 1 or a certificate is given.
        ca_file: PEM file with the certificates to trust; by default ``$MILVUS_CA_FILE``, or the machine's.
        timeout: seconds per request.
        retries: how often to try again when the server cannot be reached.
    """

    def __init__(
        self,
        server: str,
        *,
        token: str | None = None,
        tls: bool | None = None,
        ca_file: str | Path | None = None,
        timeout: float = 30.0,
        retries: int = 4,
    ) -> None:
        self.server = server
        self._patience = Patience(timeout, retries)
        ca_file = ca_file or os.environ.get("MILVUS_CA_FILE")
        if ca_file and not Path(ca_file).is_file():
            raise UserError(f"there is no certificate file {ca_file}")
        if tls is None:
            tls = bool(ca_file) or os.environ.get("MILVUS_TLS", "").lower() in ("1", "true", "yes")
        self._options = {
            "uri": f"{'https' if tls else 'http'}://{server}",
            "token": token if token is not None else os.environ.get("MILVUS_TOKEN", ""),
            "timeout": self._patience.timeout,
            "dedicated": True,  # a shared connection is never closed, and forgets its TLS settings
        } | ({"server_pem_path": str(ca_file)} if ca_file else {})
        if self._options["token"] and not tls and not on_this_machine(server.rpartition(":")[0].strip("[]")):
            warnings.warn(
                f"the token goes to {server} unencrypted: give tls=True, or ca_file=",
                UnencryptedWarning,
                stacklevel=4,
            )
        self._lock = threading.Lock()
        self._client: _Client | None = None

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of ``pymilvus.MilvusClient``."""
        pauses = self._patience.pauses()
        while True:
            client, lost = None, False
            try:
                client = self._enter()
                return getattr(client.milvus, method)(*arguments, timeout=self._patience.timeout, **named)
            except UserError:
                raise
            except Exception as error:
                replaced = client is not None and client is not self._client  # by another thread
                lost = replaced or "UNAVAILABLE" in _statuses(error)
                if not lost or (pause := next(pauses, None)) is None:
                    raise self._explained(error) from error
            finally:
                if client is not None:
                    self._leave(client, lost)
            time.sleep(pause)

    def close(self) -> None:
        """Disconnect once no call is under way; a later call would connect again."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None and not client.calls:
                client.milvus.close()

    def _enter(self) -> _Client:
        with self._lock:
            if self._client is None:
                milvus = _pymilvus().MilvusClient(**self._options)
                try:
                    self._check_version(milvus.get_server_version(timeout=self._patience.timeout))
                except BaseException:
                    milvus.close()
                    raise
                self._client = _Client(milvus)
            self._client.calls += 1
            return self._client

    def _check_version(self, version: str) -> None:
        found = re.match(r"v?(\d+)\.(\d+)", version)
        if found and (int(found[1]), int(found[2])) < OLDEST_SERVER:
            raise UserError(
                f"the server {self.server} is Milvus {version}; pts3h needs "
                f"{'.'.join(map(str, OLDEST_SERVER))} or newer"
            )

    def _leave(self, client: _Client, lost: bool) -> None:
        with self._lock:
            client.calls -= 1
            if lost and client is self._client:
                self._client = None
            if client is not self._client and not client.calls:
                client.milvus.close()

    def _explained(self, error: Exception) -> UserError:
        statuses, server = _statuses(error), self.server
        if statuses & {"UNAUTHENTICATED", "PERMISSION_DENIED"}:
            return UserError(f"the Milvus server {server} refused the token; set MILVUS_TOKEN or give token=")
        if "DEADLINE_EXCEEDED" in statuses:
            return UserError(
                f"the Milvus server {server} did not answer within {self._patience.timeout:g} s; "
                "look at its load, or give a larger timeout="
            )
        if "UNIMPLEMENTED" in statuses:
            return UserError(
                f"the server at {server} is not a Milvus server, or is older than 2.3; check the address"
            )
        if "UNAVAILABLE" in statuses:
            return UserError(
                f"cannot reach a Milvus server at {server} (attempts: {self._patience.retries + 1}); "
                "is it running, and are the address and TLS right?"
            )
        reason = " ".join(str(getattr(error, "message", None) or error).split())
        for secret in (token := str(self._options["token"]), token.partition(":")[2]):
            reason = reason.replace(secret, "...") if secret else reason
        return UserError(f"the Milvus server {server} reports: {reason[:300]}")


def _statuses(error: BaseException) -> set[str]:
    """Names of the gRPC statuses behind an error; pymilvus hides them several causes deep."""
    names: set[str] = set()
    seen: set[int] = set()  # pymilvus raises errors from themselves
    causes: list[BaseException | None] = [error]
    while causes:
        cause = causes.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        causes += [cause.__cause__, cause.__context__]
        code = getattr(cause, "code", None)
        name = getattr(code() if callable(code) else code, "name", None)
        if name is not None:
            names.add(name)
    if not names and getattr(error, "code", None) == CONNECT_FAILED:
        names.add("UNAVAILABLE")  # a connection lost in the middle of a call loses its cause, too
    return names


def _pymilvus() -> Any:
    try:
        import pymilvus
    except ImportError:
        raise UserError("a Milvus index needs pymilvus: pip install 'pts3h[milvus]'") from None
    # It logs a traceback for every error that it also raises; our own message is enough.
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return pymilvus
