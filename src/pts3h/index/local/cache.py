"""The search structure of a local index on disk: its items in id order, so that it opens quickly.

It can always be rebuilt from the log, so a file with anything wrong is simply ignored. The database names the
digest of the file that belongs to it; no other is believed, however well it is made.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...codes import Layout, as_words, code_bytes
from ...kernel.types import Columns
from ...util.files import write_atomic
from .ids import sorted_ids
from .segment import Segment
from .store import State

FILE = "search.cache"
_MAGIC = b"pts3h search cache 1\n"
_START = len(_MAGIC) + 16  # of the header; before it is the checksum of everything from here on


def save(folder: Path, segment: Segment, state: State) -> str:
    """Write the segment and how far into the log it reaches; return the digest that names the file."""
    ids, columns = segment.ids.encode(), _bytes_of(segment.columns)
    header = {
        "bits": segment.layout.bits,
        "kind": segment.kind,
        "count": len(segment),
        "ids": len(ids),
        "epoch": state.epoch,
        "last": state.last,
    }
    line = json.dumps(header).encode() + b"\n"
    digest = _digest(line, ids, columns)

    def write(file: BinaryIO) -> None:
        for part in (_MAGIC, digest, line, ids, columns):
            file.write(part)

    write_atomic(folder / FILE, write)
    return digest.hex()


def state(folder: Path, digest: str | None) -> State | None:
    """How far into the log the file with this digest says that it reaches, or None if it is not there."""
    try:
        with (folder / FILE).open("rb") as file:
            if file.read(_START)[len(_MAGIC) :].hex() != digest:
                return None
            header = json.loads(file.readline(10_000))
            return State(header["epoch"], header["last"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load(folder: Path, layout: Layout, digest: str | None) -> tuple[Segment, State] | None:
    """The segment and how far into the log it reaches, or None if the file with this digest is not there."""
    try:
        with (folder / FILE).open("rb") as file:
            return _read(file, layout, digest)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(file: BinaryIO, layout: Layout, digest: str | None) -> tuple[Segment, State] | None:
    """Straight into the arrays that are searched, so that it takes no more memory than they do."""
    start = file.read(_START)
    line = file.readline(10_000)
    if start[: len(_MAGIC)] != _MAGIC:
        return None
    header = json.loads(line)
    words = as_words(np.empty((0, code_bytes(layout.bits)), np.uint8)).shape[1]
    left = os.fstat(file.fileno()).st_size - file.tell()
    if header["bits"] != layout.bits or not 0 <= header["ids"] == left - 8 * words * header["count"]:
        return None
    raw, columns = file.read(header["ids"]), np.empty((words, header["count"]), "<u8")
    body = _bytes_of(columns)
    if file.readinto(body) != len(body) or _digest(line, raw, body).hex() != digest:  # type: ignore[attr-defined]
        return None
    ids = sorted_ids(raw, header["kind"])
    if len(ids) != header["count"]:
        return None
    return Segment(layout, header["kind"], ids, columns), State(header["epoch"], header["last"])


def _bytes_of(columns: Columns) -> memoryview:
    """The memory of an array."""
    return columns.reshape(-1).view(np.uint8).data


def _digest(*parts: Any) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()
