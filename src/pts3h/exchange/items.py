"""Items on their way out of an index, or into one: never all of them in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..codes import Codes
from ..errors import UserError
from ..index.contract import SCAN_BATCH, Index, kind_of
from ..index.metadata import Meta
from ..util.progress import Advance
from .about import About


@dataclass(frozen=True)
class Batch:
    """Some items.

    Attributes:
        ids: all integers or all text.
        codes: (n, bytes) packed, one row per id.
        meta: one dict per id; None where the file holds none.
    """

    ids: list[Any]
    codes: Codes
    meta: list[Meta] | None = None


@dataclass(frozen=True)
class Outgoing:
    """Items for a file.

    Attributes:
        about: what they are.
        batches: all of them, at least one; to be read once.
    """

    about: About
    batches: Iterable[Batch]


@dataclass(frozen=True)
class Incoming:
    """Items of a file.

    Attributes:
        count: how many there are.
        batches: all of them; to be read once.
        about: what they are, or None if another program wrote the file.
        bits: the code length that the file itself names, or None.
    """

    count: int
    batches: Iterator[Batch]
    about: About | None = None
    bits: int | None = None


def arriving(items: Incoming, path: Path | str) -> Iterator[Batch]:
    """All batches of the file ``path``; in the end raise if there were fewer items than it says, or more."""
    found = 0
    for batch in items.batches:
        found += len(batch.ids)
        yield batch
    if found != items.count:
        raise UserError(
            f"{path} is damaged: it says that it holds {items.count:,} items, and {found:,} are there"
        )


def leaving(index: Index, *, with_meta: bool, advance: Advance) -> Outgoing | None:
    """The items of an index, each as it was at one moment while they leave; None if there are none."""
    batches = _read(index, with_meta, advance)
    first = next(batches, None)
    if first is None:
        return None
    return Outgoing(About(index.layout, index.model, kind_of(first.ids)), chain([first], batches))


def _read(index: Index, with_meta: bool, advance: Advance) -> Iterator[Batch]:
    for ids, codes in index.scan():
        batch = _whole(index, ids) if with_meta else Batch(ids, codes)
        if batch.ids:
            yield batch
            advance(len(batch.ids))


def _whole(index: Index, ids: list[Any]) -> Batch:
    """Items with their metadata, those that nobody has removed meanwhile."""
    held = [item for item in index.get(ids) if item is not None]
    codes = np.array([item.code for item in held], np.uint8)
    return Batch([item.id for item in held], codes, [item.meta for item in held])


def in_batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows, some at a time."""
    source = iter(rows)
    while some := list(islice(source, SCAN_BATCH)):
        yield some


def numbered(codes: Codes, ids: Iterable[list[Any]]) -> Iterator[Batch]:
    """Codes in the order of their ids, which come some at a time."""
    start = 0
    for some in ids:
        yield Batch(some, np.array(codes[start : start + len(some)]))
        start += len(some)
