"""A part → its items, some at a time, each reader for one kind of part."""

import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.formats import SUFFIXES
from ..data.images import ImageFiles
from ..data.items import Items, check_vectors, from_array, load_array
from ..errors import UserError
from ..exchange.unreadable import refused_as
from ..index.metadata import Meta
from ..indexing import describe
from ..util.places import Place
from .parts import Kind, Part
from .pictures import ImageContents
from .tables import Columns, table_rows

VECTORS, PICTURES = 16_384, 256  # that are in memory at once
LARGEST = 256 << 20  # bytes of a picture's file
KEY = re.compile(r"((?:.*/)?[^/.]+)\.[^/]*")  # of a member of a tar: its name up to the first dot


@dataclass(frozen=True)
class Some:
    """Some items of a part.

    Attributes:
        ids: one per item, integers or text.
        items: the same items, as models take them.
        meta: what is kept with each, as ``pts3h index`` keeps it; None where it keeps nothing.
    """

    ids: Sequence[int | str]
    items: Items
    meta: list[Meta] | None = None


def read_part(part: Part) -> Iterator[Some]:
    """The items of a part, in their order, at least one batch of them."""
    return READERS[part.kind](part)


def _files(part: Part) -> Iterator[Some]:
    """Pictures in files, on a disk or in a store."""
    folder, files, ids = Place(part.source), part.where["files"], part.where["ids"]
    if not folder.is_local:
        for start in range(0, len(files), PICTURES):
            names = files[start : start + PICTURES]
            yield _contents(
                ids[start : start + PICTURES], folder.read_below(names), [f"{folder}/{n}" for n in names]
            )
        return
    if not folder.is_folder():  # on this machine; else every picture would count as one that cannot be read
        raise UserError(f"{folder} is not there: the items must lie where every worker can read them")
    yield _described(Items(ImageFiles([Path(name) for name in files]), ids))


def _rows(part: Part) -> Iterator[Some]:
    """Rows of an array."""
    path, first = Path(part.source), int(part.where["start"])
    if not path.is_file():
        raise UserError(f"{path} is not there: the items must lie where every worker can read them")
    items = from_array(np.asarray(load_array(path)[first : part.where["stop"]]))
    yield _described(Items(items.content, [str(first + place) for place in range(len(items))]))


def _described(items: Items) -> Some:
    """With the metadata that ``pts3h index`` keeps, so that it finds them unchanged afterwards."""
    return Some(items.ids, items, [describe(items, place, None) for place in range(len(items))])


def _table(part: Part) -> Iterator[Some]:
    """Rows of a Parquet file."""
    place, columns = Place(part.source), Columns(part.where["id"], part.where["column"])
    batch = VECTORS if part.count is None else min(VECTORS, max(part.count, 1))
    for ids, content in table_rows(place, part.where["groups"], columns, batch):
        if isinstance(content, np.ndarray):
            try:
                vectors = check_vectors(content)
            except UserError as error:
                raise UserError(f"{place}, from the id {ids[0]!r} on: {error}") from error
            yield Some(ids, Items(vectors, [str(one) for one in ids]))
        else:
            for start in range(0, len(ids), PICTURES):
                yield _contents(ids[start : start + PICTURES], content[start : start + PICTURES])


def _tar(part: Part) -> Iterator[Some]:
    """Pictures of a webdataset shard; other members are passed over."""
    place = Place(part.source)
    ids, contents = list[str](), list[bytes | str]()
    with (
        place.open() as file,
        refused_as(str(place), "a tar", tarfile.TarError, OSError, EOFError, zlib.error),
        tarfile.open(fileobj=file, mode="r|*") as tar,
    ):
        for member in tar:
            key = KEY.fullmatch(member.name)
            if key is None or not member.isfile() or not member.name.lower().endswith(SUFFIXES):
                continue
            ids.append(key[1])
            contents.append(_member(tar, member))
            if len(ids) == PICTURES:
                yield _contents(ids, contents)
                ids, contents = [], []
    yield _contents(ids, contents)


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | str:
    if member.size > LARGEST:
        return f"a file of {member.size:,} bytes, more than {LARGEST:,}"
    file = tar.extractfile(member)
    return b"" if file is None else file.read()


def _contents(
    ids: Sequence[Any], contents: Sequence[bytes | str | None], names: Sequence[str] | None = None
) -> Some:
    texts = [str(one) for one in ids]
    there = ["there is no picture" if one is None else one for one in contents]
    return Some(ids, Items(ImageContents(names or texts, there), texts))


READERS: dict[Kind, Callable[[Part], Iterator[Some]]] = {
    "files": _files,
    "rows": _rows,
    "table": _table,
    "tar": _tar,
}
