"""Searches, as clients ask for them: pages, radius, several items to be like and not like."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codes import By, Codes, distances
from ..index.contract import Hits as Nearest
from ..index.contract import Id, Index, Item
from ..indexing import picture_of, visible
from .collection import Served
from .errors import refusing
from .schemas import Hit, Hits

CANDIDATES = 2_000  # nearest to each liked item, among which several are weighed up
SHORT = 100  # hits that take no time to tell
DISLIKE = 0.5  # how much the distance to what is not wanted counts


@dataclass(frozen=True)
class Asked:
    """Which hits are wanted.

    Attributes:
        k: how many.
        offset: how many to pass over.
        radius: none that is farther away.
        by: which bits count.
        where: which items count.
        brief: ids and distances alone.
    """

    k: int
    offset: int = 0
    radius: int | None = None
    by: By = "both"
    where: dict[str, Any] | None = None
    brief: bool = False


def is_short(index: Index, asked: Asked) -> bool:
    """Whether one query is answered sooner than a thread would begin with it; nobody waits for so little."""
    few = asked.where is None and asked.offset + asked.k <= SHORT
    return few and index.at_hand(by=asked.by, radius=asked.radius)


def find_codes(served: Served, codes: Codes, asked: Asked) -> list[Hits]:
    """What each code finds.

    A search by radius looks for the nearest and ends at the radius: wherever that is, memory is bounded.
    """
    window = asked.offset + asked.k
    with refusing():
        found = served.index.search(codes, window + 1, asked.where, by=asked.by, radius=asked.radius)
    return [page_of(served.index, hits, asked) for hits in found]


def page_of(index: Index, hits: Nearest, asked: Asked) -> Hits:
    """One page of what was found; the number of all where the search came to an end."""
    window = asked.offset + asked.k
    page = list(hits)[asked.offset : window]
    total = len(hits) if len(hits) <= window else None
    return Hits(total=total, hits=shown_hits(index, page, brief=asked.brief))


def shown_hits(index: Index, near: Sequence[tuple[Id, int]], *, brief: bool = False) -> list[Hit]:
    """Hits with all there is to say of them; what has gone in the meantime is left out."""
    if brief:
        return [Hit(id=str(one), distance=far) for one, far in near]
    held = index.get([one for one, _ in near])
    return [
        Hit(
            id=str(one),
            distance=far,
            code=item.code.tobytes().hex(),
            meta=visible(item.meta),
            picture=picture_of(item.meta) is not None,
        )
        for (one, far), item in zip(near, held, strict=True)
        if item is not None
    ]


def find_like(served: Served, like: Sequence[str], unlike: Sequence[str], asked: Asked) -> Hits:
    """What is like some items and not like others; they are left out themselves, unless it is one alone.

    The nearest of each liked item are ordered by their mean distance to those that are liked, less half of
    that to those that are not. The distance that is told is the one to the nearest liked item.
    """
    liked = codes_of(served.items(like))
    if len(like) == 1 and not unlike:
        return find_codes(served, liked, asked)[0]
    index = served.index
    unliked = codes_of(served.items(unlike)) if unlike else liked[:0]
    with refusing():
        found = index.search(liked, CANDIDATES, asked.where, by=asked.by)
    given = {served.key(name) for name in (*like, *unlike)}
    ids = sorted({one for hits in found for one in hits.ids} - given)
    items = [item for item in index.get(ids) if item is not None]
    if not items:
        return Hits(total=0, hits=[])
    codes = codes_of(items)
    near = distances(codes, liked, index.layout, asked.by)
    score = near.mean(axis=1)
    if len(unliked):
        score = score - DISLIKE * distances(codes, unliked, index.layout, asked.by).mean(axis=1)
    nearest = near.min(axis=1)
    order = np.lexsort((np.arange(len(items)), nearest, score))
    if asked.radius is not None:
        order = order[nearest[order] <= asked.radius]
    chosen = order[asked.offset : asked.offset + asked.k]
    page = [(items[place].id, int(nearest[place])) for place in chosen]
    return Hits(total=None, hits=shown_hits(index, page, brief=asked.brief))


def codes_of(items: Sequence[Item]) -> Codes:
    """(n, bytes) the codes of some items."""
    return np.stack([item.code for item in items])
