"""The recipe "Add an engine" (docs/recipes/engine.md), carried out from outside the package."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pts3h
from pts3h.codes import By, Codes, Layout, distances
from pts3h.index import Engine, Hits, Index, Item
from pts3h.index.contract import (
    IdKind,
    Meta,
    check_held_layout,
    check_kind,
    check_model,
    check_writable,
    kind_of,
)
from pts3h.index.filters import Filter, matches
from tests.index.contract_suite import ContractSuite

PAGE = Path(__file__).parents[2] / "docs" / "recipes" / "engine.md"


@dataclass
class Place:
    """What one address holds."""

    layout: Layout
    model: str | None
    kind: IdKind | None = None  # of the ids; the first add decides
    items: dict[Any, Item] = field(default_factory=dict)


class MemoryIndex(Index):
    """Items in a dict, compared one by one, gone when the program ends."""

    def __init__(self, address: str, place: Place, read_only: bool) -> None:
        self.layout, self.model = place.layout, place.model
        self._address, self._place, self._read_only = address, place, read_only

    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        check_writable(self._read_only, self._address)
        check_kind(kind_of(ids), self._place.kind)
        self._place.kind = kind_of(ids)
        items = [Item(*parts) for parts in zip(ids, codes.copy(), meta, strict=True)]
        self._place.items |= {item.id: item for item in items}

    def _remove(self, ids: list[Any]) -> None:
        check_writable(self._read_only, self._address)
        check_kind(kind_of(ids), self._place.kind)
        for one in ids:
            self._place.items.pop(one, None)

    def _get(self, ids: list[Any]) -> list[Item | None]:
        check_kind(kind_of(ids), self._place.kind)
        return [self._place.items.get(one) for one in ids]

    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]:
        everything = self._within(queries, self.layout.farthest(by), where, by)
        return [Hits(hits.ids[:k], hits.distances[:k]) for hits in everything]

    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]:
        items = [item for item in self._place.items.values() if where is None or matches(where, item.meta)]
        found = []
        for query in queries:
            pairs = sorted((int(distances(query, item.code, self.layout, by)), item.id) for item in items)
            near = [(one, distance) for distance, one in pairs if distance <= radius]
            found.append(Hits([one for one, _ in near], [distance for _, distance in near]))
        return found

    def _scan(self, batch: int) -> Iterator[tuple[list[Any], Codes]]:
        items = list(self._place.items.values())
        for start in range(0, len(items), batch):
            some = items[start : start + batch]
            yield [item.id for item in some], np.stack([item.code for item in some])

    def _count(self) -> int:
        return len(self._place.items)

    def _close(self) -> None:
        """There is nothing to let go of."""


PLACES: dict[str, Place] = {}


def open_memory(address: str, *, layout: Layout | None, model: str | None, read_only: bool) -> MemoryIndex:
    if address not in PLACES:
        if layout is None or read_only:
            raise pts3h.UserError(f"there is no index at {address}; give bits= to create one")
        PLACES[address] = Place(layout, model)
    place = PLACES[address]
    check_held_layout(place.layout, layout, address)
    check_model(place.model, model, address)
    return MemoryIndex(address, place, read_only)


MEMORY = Engine("memory", "Items in the memory of this program.", "memory://name", open_memory)


class Addresses:
    """Makes indexes at new addresses, for the suite."""

    def __init__(self):
        self.numbers = count()

    def create(self, bits, **more):
        address = f"memory://{next(self.numbers)}"
        PLACES.pop(address, None)
        return pts3h.open_index(address, bits, engine=MEMORY, **more)

    def reopen(self, index, bits=None, **more):
        index.close()
        return pts3h.open_index(index._address, bits, **more)


class TestMemory(ContractSuite):
    @pytest.fixture
    def engine(self):
        return Addresses()


def test_one_object_is_enough():
    with pts3h.open_index("memory://x", bits=16, engine=MEMORY) as index:
        assert isinstance(index, MemoryIndex)
        index.add(["a"], np.zeros((1, 2), np.uint8))
    for engine in (None, "memory", MEMORY):  # from now on its scheme and its name are known, too
        with pts3h.open_index("memory://x", read_only=True, engine=engine) as index:
            assert index.search(np.zeros(2, np.uint8))[0].ids == ["a"]
            with pytest.raises(pts3h.UserError, match="opened read-only"):
                index.remove(["a"])


def test_mistakes_read_as_with_our_own_engines():
    with pytest.raises(pts3h.UserError, match="the memory engine has no option 'token'; it has none"):
        pts3h.open_index("memory://x", 16, engine=MEMORY, token="t")
    with pytest.raises(pts3h.UserError, match="no index at memory://nowhere"):
        pts3h.open_index("memory://nowhere", engine=MEMORY)


def test_the_page_shows_this_engine_and_runs_as_it_stands(tmp_path):
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    engine = Path(__file__).read_text().partition("@dataclass")[2].partition("\n\n\nclass Addresses")[0]
    assert engine in block
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['b', 'a'] [0, 3]\n", "")
