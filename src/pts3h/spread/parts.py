"""A collection → parts: each is read, encoded and written by one worker, and small enough to be done again.

A part says all that a worker needs to find its items, and a stamp that changes whenever they do. The same
items give the same parts.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..data.formats import SUFFIXES
from ..data.images import ImageFiles
from ..data.items import Items, load_array, read_items
from ..errors import UserError
from ..index.contract import IdKind
from ..util.files import state_of
from ..util.places import Found, Place, matching
from .tables import Columns, row_groups

Kind = Literal["files", "rows", "table", "tar"]

PART = 1024  # items of a part, where they can be counted
TABLES, TARS = (".parquet", ".pq"), (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class Part:
    """Some items.

    Attributes:
        number: its place among all parts, which names its shard.
        kind: how it is read; see :mod:`.reading`.
        source: the folder or the file in which the items are.
        where: which of them, as its reader wants it.
        count: how many; None if that is known only when they are read.
        stamp: changes whenever the items do.
    """

    number: int
    kind: Kind
    source: str
    where: dict[str, Any] = field(default_factory=dict)
    count: int | None = None
    stamp: str = ""

    def to_json(self) -> str:
        """Text, for whatever carries it to a worker."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Part":
        """What :meth:`to_json` wrote."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Division:
    """All parts of a collection, and the kind of its ids."""

    parts: tuple[Part, ...]
    ids: IdKind = "text"


def divide(
    source: str | Path,
    *,
    root: Path | None = None,
    size: int = PART,
    columns: Columns | None = None,
) -> Division:
    """The parts of a collection.

    Args:
        source: what :func:`pts3h.data.items.read_items` takes as a path, an address of a folder of pictures,
            or Parquet files or ``.tar`` shards: one, a folder of them, or a pattern.
        root: where relative paths of a CSV or list file start.
        size: items of a part. A ``.tar`` is one part, and so is at least a row group of a Parquet file.
        columns: names of columns of Parquet files.
    """
    if size < 1:
        raise UserError(f"a part holds at least one item, got {size}")
    text = str(source)
    places = [place.absolute() for place in matching(text)]
    if not places:
        raise UserError(f"no file matches {text}")
    if len(places) == 1 and places[0].is_folder():
        return _folder(places[0], size, columns)
    if all(_ends(place.name, TABLES) for place in places):
        return _tables(places, size, columns)
    if all(_ends(place.name, TARS) for place in places):
        return _tars(places)
    if len(places) > 1:
        raise UserError(f"{text} matches files of different kinds: it should match .parquet or .tar alone")
    (place,) = places
    if not place.is_local:
        raise UserError(f"cannot read {place}: give a folder of pictures, .parquet files or .tar shards")
    return _items(read_items(place.path, root=root), place.path, size)


def _ends(name: str, suffixes: Sequence[str]) -> bool:
    return name.lower().endswith(tuple(suffixes))


def _folder(folder: Place, size: int, columns: Columns | None) -> Division:
    files = folder.files()
    tables = [folder / one.name for one in files if _ends(one.name, TABLES)]
    tars = [folder / one.name for one in files if _ends(one.name, TARS)]
    pictures = [one for one in files if _ends(one.name, SUFFIXES)]
    if (bool(tables) + bool(tars) + bool(pictures)) > 1:
        raise UserError(
            f"{folder} holds more than one of pictures, .parquet files and .tar shards: name those that you "
            f"mean, as in {folder}/*{'.parquet' if tables else '.tar'}"
        )
    if tables:
        return _tables(tables, size, columns)
    if tars:
        return _tars(tars)
    if folder.is_local:
        return _items(read_items(folder.path), folder.path, size)
    if not pictures:
        raise UserError(f"there are no pictures below {folder}, nor .parquet files or .tar shards")
    return _pictures(folder.address, pictures, [one.name for one in pictures], size)


def _items(items: Items, source: Path, size: int) -> Division:
    """Pictures in files, or rows of an array."""
    if isinstance(items.content, ImageFiles):
        states = [state_of(path) for path in items.content.paths]
        stamps = ["missing" if one is None else f"{one.st_size}-{one.st_mtime_ns}" for one in states]
        found = [
            Found(str(path.absolute()), stamp)
            for path, stamp in zip(items.content.paths, stamps, strict=True)
        ]
        return _pictures(str(source if source.is_dir() else source.parent), found, items.ids, size)
    if source.suffix.lower() != ".npy":
        raise UserError(
            f"vectors are read from .npy and .parquet files by many workers: write {source} as one"
        )
    stamp = Place(source).stamp()
    load_array(source)  # which says if it cannot be read
    return _numbered(
        Part(0, "rows", str(source), {"start": start, "stop": stop}, stop - start, f"{stamp} {start}-{stop}")
        for start, stop in _ranges(len(items), size)
    )


def _pictures(source: str, files: Sequence[Found], ids: Sequence[str], size: int) -> Division:
    def part(start: int, stop: int) -> Part:
        some, names = files[start:stop], list(ids[start:stop])
        where = {"files": [one.name for one in some], "ids": names}
        stamp = json.dumps([names, [one.stamp for one in some]])
        return Part(0, "files", source, where, len(some), stamp)

    return _numbered(part(start, stop) for start, stop in _ranges(len(files), size))


def _tables(places: Sequence[Place], size: int, columns: Columns | None) -> Division:
    parts, kinds = list[Part](), dict[str, Place]()
    for place in places:
        table = row_groups(place, columns or Columns(), size)
        kinds.setdefault(table.ids, place)
        stamp = place.stamp()
        for groups, count in table.groups:
            where = {"groups": groups, "id": table.id, "column": table.column}
            told = f"{place.name} {stamp} {groups} {table.id} {table.column}"
            parts.append(Part(0, "table", place.address, where, count, told))
    if len(kinds) > 1:
        first, second = (f"{place.name} has {kind} ids" for kind, place in sorted(kinds.items()))
        raise UserError(f"{first} and {second}: an index holds ids of one kind, convert one of them")
    if not parts:
        raise UserError(f"{places[0]} holds no rows: there is nothing to encode")
    return _numbered(parts, "int" if "int" in kinds else "text")


def _tars(places: Sequence[Place]) -> Division:
    return _numbered(
        Part(0, "tar", place.address, {}, None, f"{place.name} {place.stamp()}") for place in places
    )


def _ranges(count: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def _numbered(parts: Iterable[Part], ids: IdKind = "text") -> Division:
    """With numbers, and with stamps of one length."""
    short = [replace(part, stamp=hashlib.sha256(part.stamp.encode()).hexdigest()[:32]) for part in parts]
    return Division(tuple(replace(part, number=number) for number, part in enumerate(short)), ids)
