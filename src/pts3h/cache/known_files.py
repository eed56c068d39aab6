"""Keys of files, without reading again what has not changed.

A file that has the same place, size and times as before has the same content: the time of the last change of
its entry (ctime) cannot be set by a program. A file that changed a moment ago is read every time, since
clocks of file systems are coarse and a second change might leave no trace.
"""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..errors import DiskError
from ..util.files import cache_folder, state_of
from ..util.progress import Progress, bar
from .rows import NOWHERE, Kind, find
from .segment import KEY_BYTES, Key

FOLDER = "known-pictures"
MOMENT = 2_000_000_000  # nanoseconds
CHUNK = 1024  # files handed to the threads at once
SLOW = 512 << 20  # bytes that take long enough to read for a bar


def file_keys(paths: Sequence[Path], key_of: Callable[[Path], Key], progress: Progress = None) -> list[Key]:
    """What ``key_of`` makes of each file, remembered; ``NOWHERE`` where it cannot be read."""
    kind = Kind(cache_folder("features") / FOLDER, 1, KEY_BYTES, np.uint8)
    states = [state_of(path) for path in paths]
    stamps = [stamp(path, state) for path, state in zip(paths, states, strict=True)]
    found = find(kind.segments(), stamps)
    keys = [row.tobytes() for row in found.array(1, KEY_BYTES, np.uint8)]
    unread = np.flatnonzero(~found.known)
    size = sum(state.st_size for position in unread if (state := states[position]) is not None)
    shown = progress if size > SLOW else False
    with (
        bar("files", len(unread), unit="files", progress=shown) as advance,
        ThreadPoolExecutor(thread_name_prefix="digest") as threads,
    ):
        for start in range(0, len(unread), CHUNK):
            some = unread[start : start + CHUNK]
            for position, key in zip(some, threads.map(lambda p: key_of(paths[p]), some), strict=True):
                keys[position] = key
                advance(1)
    _remember(kind, {stamps[p]: keys[p] for p in unread if NOWHERE not in (stamps[p], keys[p])})
    return keys


def stamp(path: Path, state: os.stat_result | None) -> Key:
    """Changes whenever a file does; ``NOWHERE`` for one that changed a moment ago, or is not there."""
    if state is None or time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) < MOMENT:
        return NOWHERE
    facts = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    return hashlib.sha256(f"{path.absolute()}\0{facts}".encode(errors="surrogateescape")).digest()


def _remember(kind: Kind, keys: dict[Key, Key]) -> None:
    if not keys:
        return
    rows = np.frombuffer(b"".join(keys.values()), np.uint8).reshape(-1, 1, KEY_BYTES)
    with suppress(DiskError), kind.filling(len(keys)) as appender:  # without space, it reads them again
        appender.append(list(keys), rows)
