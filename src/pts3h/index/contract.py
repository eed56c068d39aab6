"""What every index does, whichever engine holds the codes.

The public methods here check their input and then call the engine's ``_add``, ``_remove``, ... An engine
therefore sees only clean values, and a mistake reads the same on every engine.

An index holds ids of one kind, decided by the first ``add``: 64-bit integers, ordered as numbers, or text,
ordered by Unicode code point (Python's own order, which is also the byte order of UTF-8).
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ..codes import By, Codes, Layout, check_codes
from ..errors import UserError
from ..util.addresses import shown_address
from .filters import Filter, parse_where
from .metadata import Meta, check_meta

Id = int | str
IdKind = Literal["int", "text"]

MAX_ID_BYTES = 4096
SCAN_BATCH = 16_384


@dataclass(slots=True)  # not frozen: that would cost more than finding the hits of a small radius
class Hits:
    """What one query found, ordered by (distance, id); it can be looped over in pairs.

    Attributes:
        ids: of the items.
        distances: their distances, in the same order.
    """

    ids: list[Any] = field(default_factory=list)
    distances: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return iter(zip(self.ids, self.distances, strict=True))

    def up_to(self, radius: int) -> "Hits":
        """Those that are no farther away."""
        near = bisect_right(self.distances, radius)
        return self if near == len(self.ids) else Hits(self.ids[:near], self.distances[:near])


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One stored item: its id, its packed code (bytes,) and its metadata."""

    id: Id
    code: Codes
    meta: Meta


class Index(ABC):
    """Codes under ids, searched by Hamming distance.

    Codes with look bits are searched by "both" parts, by "meaning" or by "look". The distance by both is
    weight * Hamming(meaning) + Hamming(look), so that look breaks the ties of meaning.

    Attributes:
        layout: what the bits of every code are; it has ``meaning``, ``look`` and ``weight``.
        model: fingerprint of the model that made the codes, or None if that is not known.
    """

    layout: Layout
    model: str | None
    _closed = False

    @property
    def bits(self) -> int:
        """Length of every code, both parts together."""
        return self.layout.bits

    def add(
        self, ids: Iterable[Id], codes: ArrayLike, meta: Iterable[Mapping[str, Any] | None] | None = None
    ) -> None:
        """Store codes under ids; an id that is already there is replaced, its metadata too.

        When this returns, the items are durable. When it raises, none of them was added; on Milvus, which has
        no transactions, some may be, and of a Postgres server that was lost at the very end nobody knows: the
        message then says so. To add all of them again does no harm.

        Args:
            ids: n different ids, all integers or all text.
            codes: (n, bytes) packed codes.
            meta: a dict of JSON values, or None, per item. Filters can use text, numbers and booleans.
        """
        self._check_open()
        clean_ids = check_ids(ids, distinct=True)
        clean_codes = check_codes(codes, self.bits)
        if clean_codes.ndim != 2 or len(clean_codes) != len(clean_ids):
            shape = clean_codes.shape
            raise UserError(f"add needs one code for each id, got {len(clean_ids)} ids and codes {shape}")
        clean_meta = check_meta(meta, len(clean_ids))
        if clean_ids:
            self._add(clean_ids, clean_codes, clean_meta)

    def remove(self, ids: Iterable[Id]) -> None:
        """Remove items; ids that are not there are ignored."""
        self._check_open()
        clean_ids = check_ids(ids)
        if clean_ids:
            self._remove(clean_ids)

    def search(
        self,
        codes: ArrayLike,
        k: int = 10,
        where: Mapping[str, Any] | None = None,
        *,
        by: By = "both",
        radius: int | None = None,
    ) -> list[Hits]:
        """The k nearest items of each query, or all items if there are fewer.

        Args:
            codes: (q, bytes) packed codes, or one code (bytes,), which counts as one query.
            k: how many to return.
            where: which items count; see :mod:`pts3h.index.filters`.
            by: which bits count: "meaning", "look" or "both". Without look bits, both are all there are.
            radius: none that is farther away. A small radius is quicker to search than all items.
        """
        self._check_open()
        farthest = self._farthest(by)
        queries, k, condition = self._queries(codes), check_k(k), parse_where(where)
        if radius is None:
            return self._search(queries, k, condition, by)
        return self._search_within(queries, k, check_radius(radius, farthest), condition, by)

    def within(
        self, codes: ArrayLike, radius: int, where: Mapping[str, Any] | None = None, *, by: By = "both"
    ) -> list[Hits]:
        """All items within distance ``radius`` of each query. Arguments as in :meth:`search`."""
        self._check_open()
        radius = check_radius(radius, self._farthest(by))
        return self._within(self._queries(codes), radius, parse_where(where), by)

    def at_hand(self, queries: int = 1, *, by: By = "both", radius: int | None = None) -> bool:
        """Whether a search would be over in a moment: all of it in memory, nothing to read or wait for first.

        A server then answers sooner if it does not hand the search to another thread. False where the engine
        does not know, as on a server of its own. Arguments as in :meth:`search`, of queries their number.
        """
        return False

    def get(self, ids: Iterable[Id]) -> list[Item | None]:
        """The items under these ids, in the same order, with None for an id that is not there."""
        self._check_open()
        clean_ids = check_ids(ids)
        return self._get(clean_ids) if clean_ids else []

    def scan(self, batch: int = SCAN_BATCH) -> Iterator[tuple[list[Any], Codes]]:
        """All ids with their codes (n, bytes), in batches of at most ``batch``, in no particular order."""
        self._check_open()
        return self._scan(_whole(batch, "batch", 1))

    @property
    def count(self) -> int:
        """How many items there are."""
        self._check_open()
        return self._count()

    def __len__(self) -> int:
        return self.count

    def close(self) -> None:
        """Release files and connections. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _queries(self, codes: ArrayLike) -> Codes:
        queries = np.atleast_2d(check_codes(codes, self.bits))
        if queries.ndim != 2:
            raise UserError(f"queries must be (q, bytes) or one code (bytes,), got shape {queries.shape}")
        return queries

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("the index is closed; open it again with open_index")

    def _farthest(self, by: By) -> int:
        """The largest distance that there can be, else raise: ``by`` must name bits that the codes have."""
        return self.layout.largest if by == "both" else self.layout.farthest(by)

    # What an engine implements. Lists are never empty, codes are (n, bytes), where is parsed or None, and the
    # codes have the bits that ``by`` names.

    @abstractmethod
    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None: ...

    @abstractmethod
    def _remove(self, ids: list[Any]) -> None: ...

    @abstractmethod
    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]: ...

    def _search_within(self, queries: Codes, k: int, radius: int, where: Filter | None, by: By) -> list[Hits]:
        """For an engine that has no quicker way."""
        return [hits.up_to(radius) for hits in self._search(queries, k, where, by)]

    @abstractmethod
    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]: ...

    @abstractmethod
    def _get(self, ids: list[Any]) -> list[Item | None]: ...

    @abstractmethod
    def _scan(self, batch: int) -> Iterator[tuple[list[Any], Codes]]: ...

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _close(self) -> None: ...


def check_ids(ids: Iterable[Id], *, distinct: bool = False) -> list[Any]:
    """Return ids as a list of plain int or plain str, all of one kind, else raise."""
    if isinstance(ids, (str, bytes, int)) or not isinstance(ids, Iterable):
        raise UserError(f"ids must be a list of integers or of text, got {ids!r}")
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise UserError(f"ids must be one-dimensional, got shape {ids.shape}")
        clean: list[Any] = ids.tolist()
    else:
        clean = [one.item() if isinstance(one, np.generic) else one for one in ids]
    kinds = set(map(type, clean))
    if kinds == {int}:
        low, high = min(clean), max(clean)
        if low < -(2**63) or high >= 2**63:
            raise UserError(f"integer ids must fit in 64 bits, got {low if low < -(2**63) else high}")
    elif kinds == {str}:
        for one in clean:
            _check_text_id(one)
    elif kinds:
        strange = next((one for one in clean if type(one) not in (int, str)), None)
        shown = f"got {strange!r}" if strange is not None else "got both"
        raise UserError(f"ids must be all integers or all text, {shown}")
    if distinct and len(set(clean)) != len(clean):
        twice = next(one for one, times in Counter(clean).items() if times > 1)
        raise UserError(f"id {twice!r} is given twice in one add; keep one of them")
    return clean


def _check_text_id(text: str) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise UserError(f"id {text!r} is not valid Unicode text") from None
    if not 1 <= size <= MAX_ID_BYTES or "\0" in text:
        raise UserError(f"text ids have 1 to {MAX_ID_BYTES} bytes of UTF-8 and no NUL, got {text[:40]!r}")


def kind_of(ids: Sequence[Id]) -> IdKind:
    """The kind of a checked, non-empty list of ids."""
    return "text" if isinstance(ids[0], str) else "int"


def check_kind(given: IdKind, held: IdKind | None) -> None:
    """Raise if ids of kind ``given`` cannot be in an index that holds ids of kind ``held``."""
    names = {"int": "integers", "text": "text"}
    if held is not None and given != held:
        raise UserError(f"this index has ids that are {names[held]}, got ids that are {names[given]}")


def check_model(held: str | None, given: str | None, address: str | Path) -> None:
    """Raise if an index holds codes of another model than ``given``; None means that it is not known."""
    if held is not None and given is not None and held != given:
        raise UserError(
            f"the index {shown_address(address)} was made by another model ({held[:12]}, not {given[:12]}): "
            "their codes cannot be compared; open it with that model, or build a new index in another place"
        )


def check_held_layout(held: Layout, given: Layout | None, address: str | Path) -> None:
    """Raise if an index of ``held`` codes is opened as one of ``given`` codes."""
    if given is None or held == given:
        return
    if (held.meaning, held.look) != (given.meaning, given.look):
        raise UserError(
            f"the index {shown_address(address)} holds codes of {held}, not {given}; open it without bits="
        )
    raise UserError(
        f"the index {shown_address(address)} weighs meaning {held.weight}, not {given.weight}; open it "
        "without bits="
    )


def no_index(address: str, read_only: bool) -> UserError:
    """What to raise where a server has no index yet, and none may or can be created."""
    advice = "it was opened read-only" if read_only else "give bits= to create it"
    return UserError(f"there is no index at {shown_address(address)} yet; {advice}")


def check_writable(read_only: bool, address: str | Path) -> None:
    """Raise if an index that was opened read-only is written to."""
    if read_only:
        raise UserError(
            f"the index {shown_address(address)} was opened read-only; open it without read_only to change it"
        )


def check_k(k: int) -> int:
    """Return ``k`` if it is a number of items that can be asked for, else raise."""
    return _whole(k, "k", 1)


def check_radius(radius: int, largest: int) -> int:
    """Return ``radius`` if two codes can be that far apart, else raise."""
    return _whole(radius, "radius", 0, largest)


def _whole(value: int, name: str, low: int, high: int | None = None) -> int:
    known = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not known or value < low or (high is not None and value > high):
        limits = f"of {low} or more" if high is None else f"from {low} to {high}"
        raise UserError(f"{name} must be a whole number {limits}, got {value!r}")
    return int(value)
