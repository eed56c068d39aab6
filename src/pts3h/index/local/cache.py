"""The search structure of a local index on disk: its items in id order, so that it opens quickly.

It can always be rebuilt from the log, so a file with anything wrong is simply ignored.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...codes import Layout, as_words, code_bytes
from ...util.files import write_atomic
from .ids import sorted_ids
from .segment import Segment
from .store import State

FILE = "search.cache"
_MAGIC = b"pts3h search cache 1\n"
_START = len(_MAGIC) + 16  # of the header; before it is the checksum of everything from here on


def save(folder: Path, segment: Segment, state: State) -> None:
    """Write the segment and how far into the log it reaches."""
    ids, columns = segment.ids.encode(), segment.columns.tobytes()
    header = {
        "bits": segment.layout.bits,
        "kind": segment.kind,
        "count": len(segment),
        "ids": len(ids),
        "epoch": state.epoch,
        "last": state.last,
    }
    line = json.dumps(header).encode() + b"\n"

    def write(file: BinaryIO) -> None:
        for part in (_MAGIC, _digest(line, ids, columns), line, ids, columns):
            file.write(part)

    write_atomic(folder / FILE, write)


def state(folder: Path) -> State | None:
    """How far into the log the file reaches, unchecked, or None if there is no file."""
    try:
        with (folder / FILE).open("rb") as file:
            file.seek(_START)
            header = json.loads(file.readline(10_000))
            return State(header["epoch"], header["last"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load(folder: Path, layout: Layout) -> tuple[Segment, State] | None:
    """The segment and how far into the log it reaches, or None if there is no valid file."""
    try:
        with (folder / FILE).open("rb") as file:
            raw = memoryview(file.read())
    except OSError:
        return None
    if raw[: len(_MAGIC)] != _MAGIC or _digest(raw[_START:]) != raw[len(_MAGIC) : _START]:
        return None
    end = _START + bytes(raw[_START : _START + 10_000]).index(b"\n") + 1
    header = json.loads(bytes(raw[_START:end]))
    if header["bits"] != layout.bits:
        return None
    ids = sorted_ids(bytes(raw[end : end + header["ids"]]), header["kind"])
    words = as_words(np.empty((0, code_bytes(layout.bits)), np.uint8)).shape[1]
    columns = np.frombuffer(raw[end + header["ids"] :], "<u8").reshape(words, header["count"]).copy()
    return Segment(layout, header["kind"], ids, columns), State(header["epoch"], header["last"])


def _digest(*parts: Any) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()
