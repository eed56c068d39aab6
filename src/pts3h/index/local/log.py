"""The codes of a local index: a log, inside a transaction of the store.

Each record removes some ids and adds some ids with their codes, as blobs. An index holds what remains after
all records in order. Writing a batch writes one row, and a reader catches up by reading the rows after the
last one it knows. Small records are merged as they arrive, like carries in a counter, so there are few of
them.
"""

import sqlite3
import zlib
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from ...codes import Codes, code_bytes
from ..contract import IdKind, kind_of
from .damage import Damage
from .ids import SomeIds, decode_ids, encode_ids
from .info import Info

SCHEMA = """
CREATE TABLE log (last INTEGER PRIMARY KEY, size INTEGER, checksum INTEGER, gone BLOB, ids BLOB, codes BLOB);
"""
# The most items in one record: half a megabyte at 64 bits.
RECORD = 32_768
_COLUMNS = "last, size, checksum, gone, ids, codes"


@dataclass(frozen=True)
class LogRecord:
    """One entry of the log: first the ids in ``gone`` are removed, then ``ids`` are set to ``codes``."""

    gone: SomeIds
    ids: SomeIds
    codes: Codes

    @property
    def size(self) -> int:
        """How many ids it names."""
        return len(self.gone) + len(self.ids)

    @property
    def kind(self) -> IdKind:
        """The kind of its ids; it must name one."""
        return kind_of([(self.ids if len(self.ids) else self.gone)[0]])

    def then(self, later: "LogRecord") -> "LogRecord":
        """Both records as one; the later one wins."""
        gone, ids, later_gone, later_ids = map(_listed, (self.gone, self.ids, later.gone, later.ids))
        replaced, codes = {*later_gone, *later_ids}, self.codes
        if not replaced.isdisjoint(ids):
            stay = np.array([one not in replaced for one in ids], bool)
            ids, codes = [*compress(ids, stay)], codes[stay]
        ids = [*ids, *later_ids]
        if gone or later_gone:
            named = set(ids)
            gone = [one for one in dict.fromkeys((*gone, *later_gone)) if one not in named]
        return LogRecord(gone, ids, np.concatenate([codes, later.codes]))


def _listed(ids: SomeIds) -> list[Any]:
    """Few ids as Python's own, which are quick one by one."""
    return ids if isinstance(ids, list) else ids.tolist()


class Log:
    """The table behind a connection."""

    def __init__(self, connection: sqlite3.Connection, info: Info) -> None:
        self._connection = connection
        self._width = code_bytes(info.layout.bits)
        self._checked = info.checked

    def last(self) -> int:
        """How far the log reaches."""
        return self._connection.execute("SELECT max(last) FROM log").fetchone()[0] or 0

    def entries(self, after: int = 0) -> int:
        """How many ids the records after ``after`` name in all, whether their items still exist or not."""
        query = "SELECT total(size) FROM log WHERE last > ?"
        return int(self._connection.execute(query, (after,)).fetchone()[0])

    def since(self, last: int, kind: IdKind | None) -> list[LogRecord]:
        """The records after ``last``, in order. They may repeat earlier changes, which does no harm."""
        query = f"SELECT {_COLUMNS} FROM log WHERE last > ? ORDER BY last"  # nosec B608  # a fixed text
        return [self._record(kind, *row) for row in self._connection.execute(query, (last,))]

    def _record(
        self, kind: IdKind | None, last: int, size: int, checksum: int, gone: bytes, ids: bytes, codes: bytes
    ) -> LogRecord:
        try:
            if kind is None or checksum != self._checksum(last, size, gone, ids, codes):
                raise Damage
            array = np.frombuffer(codes, np.uint8).reshape(-1, self._width)
            record = LogRecord(decode_ids(gone, kind), decode_ids(ids, kind), array)
        except (TypeError, ValueError) as error:
            raise Damage from error
        if len(record.ids) != len(array):
            raise Damage
        return record

    def append(self, record: LogRecord, kind: IdKind) -> None:
        """Write a record, merged with the small ones just before it."""
        last = self.last()
        query = f"SELECT {_COLUMNS} FROM log ORDER BY last DESC LIMIT 1"  # nosec B608  # a fixed text
        while (row := self._connection.execute(query).fetchone()) is not None:
            place, size = row[:2]
            if not isinstance(size, int):
                raise Damage
            if size > record.size or size + record.size > RECORD:
                break
            record = self._record(kind, *row).then(record)
            self._connection.execute("DELETE FROM log WHERE last = ?", (place,))
        self._insert(last + 1, record)

    def replace(self, record: LogRecord) -> None:
        """Replace the whole log by one record."""
        self._connection.execute("DELETE FROM log")
        if record.size:
            self._insert(1, record)

    def _insert(self, last: int, record: LogRecord) -> None:
        for start in range(0, max(1, len(record.ids)), RECORD):
            gone = encode_ids(record.gone if start == 0 else [])
            ids = encode_ids(record.ids[start : start + RECORD])
            codes = record.codes[start : start + RECORD].tobytes()
            size = len(record.ids[start : start + RECORD]) + (len(record.gone) if start == 0 else 0)
            checksum = self._checksum(last, size, gone, ids, codes)
            self._connection.execute(
                "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", (last, size, checksum, gone, ids, codes)
            )
            last += 1

    def _checksum(self, last: int, size: int, *blobs: bytes) -> int:
        total = zlib.crc32(f"{last} {size}".encode()) if self._checked else 0
        for blob in blobs:
            total = zlib.crc32(blob, zlib.crc32(len(blob).to_bytes(8, "little"), total))
        return total
