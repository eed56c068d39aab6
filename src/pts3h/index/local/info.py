"""What an index knows of itself: a few named values, inside a transaction of the store.

The formats:
    1  codes of one part
    2  codes of two parts
    3  checksums over everything but ``facts``; long text is cut in ``facts`` (see :mod:`.metadata`)
An index keeps the format that it was made with.
"""

import json
import secrets
import sqlite3
import zlib
from dataclasses import dataclass
from typing import Any

from ...codes import Layout
from ...errors import UserError
from ..contract import IdKind
from .damage import Damage

SCHEMA = "CREATE TABLE info (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
FORMAT = 3
CHECKED = 3  # from this format on there are checksums
_KINDS = (None, "int", "text")


@dataclass(frozen=True)
class Info:
    """All values.

    Attributes:
        format: see above.
        bits: number of learned bits.
        look: number of look bits.
        weight: how much a learned bit counts beside a look bit.
        model: fingerprint of the model that made the codes, if it is known.
        kind: the kind of the ids, None before the first add.
        epoch: changes when the log is rewritten.
        cache: digest of the saved search structure that belongs to this database, if one was saved.
    """

    format: int
    bits: int
    model: str | None
    kind: IdKind | None
    epoch: str
    look: int = 0
    weight: int = 1
    cache: str | None = None

    @property
    def layout(self) -> Layout:
        """What the bits of the codes are."""
        try:
            return Layout(self.bits, self.look, self.weight)
        except UserError as error:
            raise Damage from error

    @property
    def checked(self) -> bool:
        """Whether this is a format with checksums, in which long text is cut."""
        return self.format >= CHECKED


def held_format(connection: sqlite3.Connection) -> Any:
    """The format of an index, which may be one of the future; None if it names none."""
    row = connection.execute("SELECT value FROM info WHERE name = 'format'").fetchone()
    return None if row is None else row[0]


def read_values(connection: sqlite3.Connection) -> dict[str, Any]:
    """All values as they are now, unchecked."""
    return dict(connection.execute("SELECT name, value FROM info"))


def checked_info(values: dict[str, Any]) -> Info:
    """What all values say, if an index has written them."""
    values = dict(values)
    checksum = values.pop("checksum", None)
    try:
        info = Info(**values)
    except TypeError as error:  # a value is missing, or there is one too many
        raise Damage from error
    texts = (info.epoch, info.model or "", info.cache or "")
    if info.kind not in _KINDS or not all(isinstance(text, str) for text in texts):
        raise Damage
    if info.checked and checksum != _checksum(values):
        raise Damage
    return info


def write_first_info(connection: sqlite3.Connection, layout: Layout, model: str | None) -> None:
    """What a new index knows of itself; the kind of its ids comes with the first of them."""
    bits = {"bits": layout.meaning, "look": layout.look, "weight": layout.weight}
    change_info(connection, format=FORMAT, **bits, model=model, kind=None, epoch=new_epoch(), cache=None)


def change_info(connection: sqlite3.Connection, **changed: Any) -> None:
    """Set some values."""
    values = read_values(connection) | changed
    values.pop("checksum", None)
    if values["format"] >= CHECKED:
        changed["checksum"] = _checksum(values)
    connection.executemany("INSERT OR REPLACE INTO info VALUES (?, ?)", changed.items())


def new_epoch() -> str:
    """A name that no log had before."""
    return secrets.token_hex(8)


def _checksum(values: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True, default=repr).encode())
