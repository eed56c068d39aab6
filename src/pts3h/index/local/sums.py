"""A checksum over the whole database, made when an index is closed.

Records and metadata have checksums of their own, but these cannot show what is not there any more, and the
lookup table of filters has none. Reading everything takes a second for a gigabyte, so it is done once, before
the database is first believed; plain searches with a saved search structure need none of it.

The checksum belongs to one state of the database, which bears a random number since somebody began to write.
Of any other state it says nothing: after a crash, and for a database that was put back from a backup.
"""

import json
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import randbits
from typing import Any

from ...errors import UserError
from ...util.files import write_json
from ...util.sealed import sealed, unsealed
from .damage import Damage

FILE = "index.sum"
CHUNK = 1 << 20


def begin_moment(connection: sqlite3.Connection) -> None:
    """Inside the first transaction that writes: what was true of the database before is no longer."""
    connection.execute(f"PRAGMA user_version = {randbits(31)}")


def moment(connection: sqlite3.Connection, values: Mapping[str, Any]) -> str:
    """What tells this moment of the database from all others."""
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    return json.dumps([number, values], sort_keys=True, default=repr)


def check(database: Path, now: str) -> None:
    """Raise if the checksum is of this moment, and the database is another one nevertheless."""
    stored = read(database.parent)
    if stored is None or stored["moment"] != now or waits(database):
        return
    if digest(database) != stored["database"] and not waits(database):
        raise Damage


def save(database: Path, then: str) -> None:
    """Write the checksum, unless it is there or somebody else has the database open."""
    stored = read(database.parent)
    if (stored is None or stored["moment"] != then) and not shared(database).exists():
        with suppress(OSError, UserError):  # it is a help, not the truth
            write_json(database.with_name(FILE), sealed({"moment": then, "database": digest(database)}))


def read(folder: Path) -> dict[str, Any] | None:
    """What was saved; None if there is nothing that can be believed."""
    try:
        stored = unsealed(json.loads((folder / FILE).read_text(encoding="utf-8")))
        return stored if {"moment", "database"} <= stored.keys() else None
    except (OSError, ValueError):
        return None


def digest(database: Path) -> int:
    """Of all bytes."""
    total = 0
    with database.open("rb") as file:
        while chunk := file.read(CHUNK):
            total = zlib.crc32(chunk, total)
    return total


def waits(database: Path) -> bool:
    """Whether changes wait beside the database, so that its file alone is not the truth."""
    log = shared(database)
    return log.exists() and log.stat().st_size > 0


def shared(database: Path) -> Path:
    """The write-ahead log. It is there as long as anybody has the database open."""
    return database.with_name(f"{database.name}-wal")
