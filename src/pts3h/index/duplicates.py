"""Groups of near duplicates in any index, found by radius searches: no n x n matrix is ever built."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..codes import By, Codes
from ..util.progress import bar
from .contract import Hits, Index, check_radius

SCAN = 4_096
# A batch of queries should find about this many hits, so that memory stays small where items are dense.
HITS = 500_000


class Links:
    """Which items belong together (a union-find forest), without keeping the pairs."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def root(self, one: Any) -> Any:
        """The item that represents the group of ``one``."""
        while (above := self.parent.setdefault(one, one)) != one:
            self.parent[one] = one = self.parent[above]  # halve the path on the way up
        return one

    def link(self, a: Any, b: Any) -> None:
        """From now on, ``a`` and ``b`` belong together."""
        a, b = self.root(a), self.root(b)
        self.parent[max(a, b)] = min(a, b)

    def groups(self) -> list[list[Any]]:
        """All groups, each in id order, the largest first."""
        found: dict[Any, list[Any]] = {}
        for one in sorted(self.parent):
            found.setdefault(self.root(one), []).append(one)
        return sorted(found.values(), key=lambda ids: (-len(ids), ids[0]))


def likeness(index: Index) -> By:
    """By what near-duplicates are found: the look, where the codes have look bits."""
    return "look" if index.layout.look else "meaning"


def duplicate_groups(
    index: Index, radius: int = 2, *, by: By | None = None, progress: bool | None = None
) -> list[list[Any]]:
    """Ids of items that are linked by steps of at most ``radius``: groups of two or more, the largest first.

    Memory grows with the number of items that have a neighbour, not with the number of pairs.

    Args:
        index: any index; what others write in the meantime may or may not be seen.
        radius: largest distance between two neighbours.
        by: which bits count; by default the look bits, where the codes have some, else all.
        progress: whether to draw a progress bar; by default, only on a terminal.
    """
    by = likeness(index) if by is None else by
    check_radius(radius, index.layout.farthest(by))
    links = Links()
    asked: set[bytes] = set()  # codes with neighbours; all items with such a code are linked already
    with bar("Looking for near duplicates", index.count, unit="items", progress=progress) as advance:
        for ids, codes in index.scan(SCAN):
            new = [row for row, code in enumerate(codes) if code.tobytes() not in asked]
            distinct = np.unique(codes[new], axis=0) if new else codes[:0]
            for code, hits in _ask(index, distinct, radius, by):
                if len(hits) > 1:
                    asked.add(code)
                    for other in hits.ids[1:]:
                        links.link(hits.ids[0], other)
            advance(len(ids))
    return links.groups()


def _ask(index: Index, codes: Codes, radius: int, by: By) -> Iterator[tuple[bytes, Hits]]:
    """Each code with its hits, searched in smaller batches where there are many hits."""
    start, size = 0, 16
    while start < len(codes):
        some = codes[start : start + size]
        found = index.within(some, radius, by=by)
        yield from zip((code.tobytes() for code in some), found, strict=True)
        start += len(some)
        size = max(1, min(SCAN, 4 * size, HITS // max(1, *map(len, found), 1)))
