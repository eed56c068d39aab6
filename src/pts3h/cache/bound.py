"""What lies in the cache, and what leaves it: the features that were used least recently, first of all.

The unit is a segment. One that a process uses stays. Files of an earlier layout, one per collection of
pictures, are of no use any more: they leave first.
"""

import os
import shutil
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..util.files import cache_folder, state_of
from ..util.sizes import parse_size
from .segment import RECORD, remove_if_unused

LIMIT = "20GB"
EARLIER = "earlier-layout"
EARLIER_SUFFIXES = (".npy", ".part", ".json", ".lock")


@dataclass(frozen=True)
class Entry:
    """A line of the listing.

    Attributes:
        name: of the kind of features, or of a folder of the cache.
        is_features: whether the bound covers it.
        pictures: how many it holds features of; None where it holds something else.
        size: bytes on disk.
        last_used: seconds since 1970; None where nothing is noted.
    """

    name: str
    is_features: bool
    pictures: int | None
    size: int
    last_used: float | None


def cache_limit() -> int:
    """Bytes that features may take."""
    return parse_size(os.environ.get("PTS3H_CACHE_LIMIT", LIMIT), name="PTS3H_CACHE_LIMIT")


def list_features() -> list[Entry]:
    """What the bound covers: features by kind, digests of files, files of the earlier layout."""
    entries = [
        Entry(
            name,
            True,
            sum(size_of(file.with_suffix(".keys")) // RECORD.itemsize for file in files),
            sum(map(segment_size, files)),
            max(map(last_used, files)),
        )
        for name, files in find_kinds().items()
    ]
    if earlier := earlier_files():
        entries.append(Entry(EARLIER, True, None, sum(map(size_of, earlier)), None))
    return entries


def list_others() -> list[Entry]:
    """The other folders of the cache."""
    root = cache_folder()
    folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name != "features")
    return [Entry(path.name, False, None, sum(map(size_of, path.rglob("*"))), None) for path in folders]


def keep_within(limit: int) -> int:
    """Remove what was used least recently until features take ``limit`` bytes; how many bytes are freed."""
    freed, total = 0, sum(entry.size for entry in list_features())
    segments = [file for files in find_kinds().values() for file in files]
    for file in earlier_files() + sorted(segments, key=last_used):
        if total - freed > limit:
            freed += remove(file)
    return freed


def clear(names: Collection[str] = ()) -> tuple[int, list[str]]:
    """Remove all features, or what is named; how many bytes are freed, and what is in use and stays."""
    features, others = list_features(), list_others()
    known = [entry.name for entry in features + others]
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"the cache has no {unknown[0]!r}; it has {', '.join(known) or 'nothing'}")
    freed, kinds = 0, find_kinds() | {EARLIER: earlier_files()}
    for entry in features + others:
        if entry.name in kinds and (entry.name in names or not names):
            freed += sum(map(remove, kinds[entry.name]))
        elif entry.name in names:
            shutil.rmtree(cache_folder() / entry.name)
            freed += entry.size
    in_use = [name for name in names or kinds if any(file.exists() for file in kinds.get(name, ()))]
    return freed, in_use


def find_kinds() -> dict[str, list[Path]]:
    """The files of rows of each kind, by its name."""
    root = cache_folder("features")
    kinds: dict[str, list[Path]] = {}
    for file in sorted(root.glob("**/*.rows")):
        kinds.setdefault(file.parent.relative_to(root).as_posix(), []).append(file)
    return kinds


def earlier_files() -> list[Path]:
    """Files of the earlier layout."""
    return sorted(path for path in cache_folder("features").iterdir() if path.suffix in EARLIER_SUFFIXES)


def remove(file: Path) -> int:
    """Remove a segment that nobody uses, or a file of the earlier layout; how many bytes are freed."""
    if file.suffix != ".rows":
        size = size_of(file)
        file.unlink(missing_ok=True)
        return size
    size = segment_size(file)
    return size if remove_if_unused(file) else 0


def segment_size(rows_file: Path) -> int:
    """Bytes of both files of a segment."""
    return size_of(rows_file) + size_of(rows_file.with_suffix(".keys"))


def last_used(rows_file: Path) -> float:
    """When a segment was read or written last."""
    state = state_of(rows_file.with_suffix(".keys"))
    return 0.0 if state is None else state.st_mtime


def size_of(path: Path) -> int:
    """Bytes of a file; none if it was removed meanwhile, or is a folder."""
    state = state_of(path)
    return 0 if state is None or stat.S_ISDIR(state.st_mode) else state.st_size
