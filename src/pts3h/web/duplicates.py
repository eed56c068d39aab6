"""Near-duplicates: groups of items that look the same, and which of each to keep. No file is ever touched."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..codes import By, distances
from ..data.decoding import image_size
from ..index.contract import Item
from ..index.duplicates import duplicate_groups
from ..indexing import picture_of
from ..util.files import state_of
from .collection import Served
from .errors import Refused

Keep = Literal["largest", "oldest", "newest", "shortest_name"]

KEPT = 4  # lists of groups
MOST_SHOWN = 200  # items of one group
WAIT_SECONDS = 120.0


@dataclass(frozen=True)
class Copy:
    """An item of a group of near-duplicates; the distance is the one to the item that the rule keeps."""

    id: str
    distance: int
    width: int | None
    height: int | None
    bytes: int | None
    modified: float | None


@dataclass(frozen=True)
class Copies:
    """A group, the item to keep first.

    Attributes:
        items: some of them, if there are very many.
        count: how many there are.
        keep: the one that the rule keeps.
    """

    items: list[Copy]
    count: int
    keep: str


class Duplicates:
    """Finds groups, one search at a time, and keeps them for as long as the index has as many items."""

    def __init__(self) -> None:
        self._found = OrderedDict[tuple[int, int, int, By], list[list[Any]]]()
        self._lock = threading.Lock()

    def groups(self, served: Served, radius: int, by: By) -> list[list[Any]]:
        """Ids of items that are linked by steps of at most ``radius``, the largest group first."""
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            raise Refused(503, "busy", "others look for duplicates now: wait a moment", retry_after=5)
        try:
            key = served.generation, served.index.count, radius, by
            if key not in self._found:
                self._found[key] = duplicate_groups(served.index, radius, by=by, progress=False)
                while len(self._found) > KEPT:
                    self._found.popitem(last=False)
            self._found.move_to_end(key)
            return self._found[key]
        finally:
            self._lock.release()


def described(served: Served, ids: list[Any], by: By, keep: Keep) -> Copies | None:
    """A group with what one chooses by; None if hardly anything of it is left."""
    held = [item for item in served.index.get(ids[:MOST_SHOWN]) if item is not None]
    if len(held) < 2:
        return None
    copies = [facts_of(item) for item in held]
    order = sorted(range(len(held)), key=lambda place: rank(copies[place], keep))
    codes = np.stack([held[place].code for place in order])
    far = distances(codes[0], codes, served.index.layout, by)
    items = [
        Copy(**{**vars(copies[place]), "distance": int(distance)})
        for place, distance in zip(order, far, strict=True)
    ]
    return Copies(items, len(ids), items[0].id)


def facts_of(item: Item) -> Copy:
    """What is known of an item's file."""
    path = picture_of(item.meta)
    size = None if path is None else image_size(path)
    state = None if path is None else state_of(path)
    return Copy(
        str(item.id),
        0,
        None if size is None else size[0],
        None if size is None else size[1],
        None if state is None else state.st_size,
        None if state is None else round(state.st_mtime, 3),
    )


def rank(copy: Copy, keep: Keep) -> tuple[Any, ...]:
    """The smaller, the better; what is not known comes last."""
    name = len(copy.id), copy.id
    match keep:
        case "largest":
            return -(copy.width or 0) * (copy.height or 0), -(copy.bytes or 0), *name
        case "oldest":
            return copy.modified is None, copy.modified or 0, *name
        case "newest":
            return copy.modified is None, -(copy.modified or 0), *name
        case "shortest_name":
            return name
