"""A segment: rows of one shape under their keys, in two files that only grow.

``N.rows`` holds the rows, ``N.keys`` a record for each: its key and a checksum. A row counts once its record
is written, and is believed only if its checksum agrees: a process may be killed, a disk may fail. Whoever
reads or appends shares the lock of ``N.rows``; the map of the rows keeps it.
"""

import contextlib
import errno
import mmap
import os
import zlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..util.files import explain_os_errors
from .locks import alone, if_unused, open_in_use, open_to_write

Key = bytes
KEY_BYTES = 32
# the first eight bytes of a key are a number, so that whole segments are searched in one call
RECORD = np.dtype([("head", "<u8"), ("tail", f"V{KEY_BYTES - 8}"), ("check", "<u4")])


@dataclass(frozen=True)
class Segment:
    """What a segment held when it was opened.

    Attributes:
        keys_file: for the time of the last use.
        records: one per row.
        rows: (n, parts, width), mapped from disk.
    """

    keys_file: Path
    records: NDArray[np.void]
    rows: NDArray[Any]

    def find(self, keys: Set[Key], heads: NDArray[np.uint64]) -> dict[Key, int]:
        """The row of each key that is here and sound; of several the last one. ``heads`` are of the keys."""
        candidates = np.flatnonzero(np.isin(self.records["head"], heads))
        raw = self.records[candidates].tobytes()
        held = {
            raw[place : place + KEY_BYTES]: row
            for place, row in zip(range(0, len(raw), RECORD.itemsize), candidates.tolist(), strict=True)
        }
        checks = self.records["check"]
        found = {
            key: row
            for key, row in held.items()
            if key in keys and checksum(key, self.rows[row]) == checks[row]
        }
        if found:
            with contextlib.suppress(OSError):  # a cache that may only be read is still a cache
                os.utime(self.keys_file)
        return found


def open_segment(rows_file: Path, parts: int, width: int, dtype: DTypeLike) -> Segment | None:
    """What a segment holds now; None if it was removed."""
    keys_file = rows_file.with_suffix(".keys")
    try:
        file = open_in_use(rows_file)
    except FileNotFoundError:
        return None
    with file:
        size = parts * width * np.dtype(dtype).itemsize
        count = count_rows(rows_file, size)
        rows = np.zeros((0, parts, width), dtype)
        if count:
            mapped = mmap.mmap(file.fileno(), count * size, access=mmap.ACCESS_READ)
            rows = np.frombuffer(mapped, dtype).reshape(count, parts, width)
        records = np.fromfile(keys_file, RECORD, count) if count else np.zeros(0, RECORD)
    return Segment(keys_file, records, rows)


class Appender:
    """Adds rows to a segment, which may be new; several processes may do so at once.

    Args:
        rows_file: of the segment.
        row_bytes: length of a row.
    """

    def __init__(self, rows_file: Path, row_bytes: int) -> None:
        self.rows_file, self.row_bytes = rows_file, row_bytes
        self._rows = open_in_use(rows_file, create=True)
        # which nobody removes while the rows are in use
        self._keys = open_to_write(rows_file.with_suffix(".keys"))
        with alone(self._keys):  # records whose rows are lost must not meet rows to come
            self._keys.truncate(count_rows(rows_file, row_bytes) * RECORD.itemsize)

    def append(self, keys: Sequence[Key], rows: NDArray[Any]) -> None:
        """Add a row per key. A row that another process added in the meantime is simply there twice."""
        rows = np.ascontiguousarray(rows)
        records = b"".join(
            key + checksum(key, row).to_bytes(4, "little") for key, row in zip(keys, rows, strict=True)
        )
        with explain_os_errors(self.rows_file), alone(self._keys):
            count = count_rows(self.rows_file, self.row_bytes)
            write_at(self._rows, rows.tobytes(), count * self.row_bytes)
            write_at(self._keys, records, count * RECORD.itemsize)

    def reserve(self, count: int) -> None:
        """Take the space of so many rows now, so that a full disk is noticed before the work, not after."""
        if not hasattr(os, "posix_fallocate"):
            return
        with explain_os_errors(self.rows_file), alone(self._keys):
            end = count_rows(self.rows_file, self.row_bytes) * self.row_bytes
            try:
                os.posix_fallocate(self._rows.fileno(), end, count * self.row_bytes)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # cannot promise space
                    with contextlib.suppress(OSError):
                        self._rows.truncate(end)
                    raise

    def close(self) -> None:
        """Give back space that was not needed, and the files."""
        with self._rows, self._keys, alone(self._keys):
            end = count_rows(self.rows_file, self.row_bytes) * self.row_bytes
            with contextlib.suppress(OSError):  # it does no harm, and the next one gives it back
                self._rows.truncate(end)


def remove_if_unused(rows_file: Path) -> bool:
    """Remove a segment unless a process uses it; says whether it is gone."""
    try:
        with if_unused(rows_file) as unused:
            if unused:  # the keys first: rows without keys are no rows
                rows_file.with_suffix(".keys").unlink(missing_ok=True)
                rows_file.unlink(missing_ok=True)
            return unused
    except FileNotFoundError:
        return True


def count_rows(rows_file: Path, row_bytes: int) -> int:
    """Rows with a whole record."""
    keys_file = rows_file.with_suffix(".keys")
    records = keys_file.stat().st_size // RECORD.itemsize if keys_file.exists() else 0
    return min(records, rows_file.stat().st_size // row_bytes)


def checksum(key: Key, row: NDArray[Any]) -> int:
    """Of a row and the key it belongs to."""
    return zlib.crc32(row.data, zlib.crc32(key))


def write_at(file: BinaryIO, content: bytes, offset: int) -> None:
    """Write all of ``content``, which one call need not do."""
    file.seek(offset)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
