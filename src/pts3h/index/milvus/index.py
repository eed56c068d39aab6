"""Index on a Milvus server: the same contract, beyond one machine.

Milvus answers a query with at most ``window`` hits and breaks ties in any way. If a tie at the k-th place or
a full window leaves a doubt, the range of ids is halved and searched again, until the answer is complete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...codes import By, Codes, Layout
from ...errors import UserError
from ..contract import Hits, IdKind, Index, Item, check_kind, check_writable, kind_of, no_index
from ..filters import Filter
from ..held import Held
from ..metadata import Meta, as_json
from .collection import Collection, Consistency, IndexType, Options, Pair
from .connection import Address, Connection
from .expressions import all_of, expression, has_id, literal
from .vectors import Scale, Vectors

WINDOW = 16_384  # the most hits per query that a server returns by default
FIRST_WINDOW = 1024
ROWS_PER_REQUEST = 8192
BYTES_PER_REQUEST = 4 << 20  # servers accept 64 MB, the message queues behind some of them 5 MB


def open_milvus(
    address: str,
    *,
    layout: Layout | None = None,
    model: str | None = None,
    read_only: bool = False,
    token: str | None = None,
    tls: bool | None = None,
    ca_file: str | Path | None = None,
    timeout: float = 30.0,
    retries: int = 4,
    consistency: Consistency = "bounded",
    index_type: IndexType = "BIN_FLAT",
    nlist: int = 1024,
    nprobe: int | None = None,
    window: int = WINDOW,
) -> "MilvusIndex":
    """Open a collection, or create it if there is none yet.

    Args:
        address: ``milvus://host:port/collection``.
        layout: what the bits of the codes are; see ``bits`` of :func:`pts3h.open_index`.
        model: as in :func:`pts3h.open_index`.
        read_only: never write.
        token: see :class:`.connection.Connection`, as for the next four.
        tls: whether to encrypt the connection.
        ca_file: certificates to trust.
        timeout: seconds per request.
        retries: how often to try again when the server cannot be reached.
        consistency: how fresh reads are. ``bounded`` may miss the last seconds, ``session`` misses nothing
            that this process wrote, ``strong`` nothing at all, at about 200 ms per read.
        index_type: for a new collection; ``BIN_IVF_FLAT`` sorts large sets into ``nlist`` clusters.
        nlist: clusters of a new ``BIN_IVF_FLAT`` collection.
        nprobe: clusters to search. By default all of them, so that answers are exact; fewer are faster.
        window: the most hits per query that the server returns.
    """
    place = Address.parse(address)
    for name, value, known in [
        ("consistency", consistency, get_args(Consistency)),
        ("index_type", index_type, get_args(IndexType)),
    ]:
        if value not in known:
            raise UserError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    for name, number, least in [
        ("nlist", nlist, 1),
        ("nprobe", 1 if nprobe is None else nprobe, 1),
        ("window", window, 2),  # a range of ids with one hit cannot be halved
    ]:
        if type(number) is not int or not least <= number <= 65_536:
            raise UserError(f"{name} must be a whole number from {least} to 65536, got {number!r}")
    connection = Connection(
        place.server, token=token, tls=tls, ca_file=ca_file, timeout=timeout, retries=retries
    )
    options = Options(consistency, index_type, nlist, nprobe)
    try:
        collection = Collection(connection, place.collection, address, options)
        held = collection.held()
        if held is None:
            if read_only or layout is None:
                raise no_index(address, read_only)
            held = collection.make(Held.of(layout, model, None))
        held.check(layout, model, address)
        if held.ids:
            collection.make_ready()
        held = replace(held, model=held.model or model)
        return MilvusIndex(collection, held, address, read_only=read_only, window=window)
    except BaseException:
        connection.close()
        raise


class MilvusIndex(Index):
    """See :func:`open_milvus`."""

    def __init__(
        self, collection: Collection, held: Held, address: str, *, read_only: bool, window: int
    ) -> None:
        self.layout, self.model = held.layout, held.model
        self._vectors = Vectors(held.layout)
        self._kind: IdKind | None = held.ids
        self._collection, self._address = collection, address
        self._read_only, self._window = read_only, window

    # Writing

    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        check_writable(self._read_only, self._address)
        self._holds(ids)
        sizes = [len(as_json(one, row).encode()) for one, row in zip(ids, meta, strict=True)]
        if self._kind is None:
            self._settle(self._collection.make(Held.of(self.layout, self.model, kind_of(ids))))
            self._holds(ids)
        vectors = self._vectors.stored(codes)
        rows = [size + _size(one) + vectors.shape[1] for size, one in zip(sizes, ids, strict=True)]
        for start, stop in _batches(rows):
            some = range(start, stop)
            batch = [{"id": ids[row], "code": vectors[row].tobytes(), "meta": meta[row]} for row in some]
            try:
                self._collection.upsert(batch)
            except UserError as error:
                if not start:
                    raise
                stored = f"{start} of {len(ids)} items are stored; add all of them again"
                raise UserError(f"{error} ({stored})") from error

    def _remove(self, ids: list[Any]) -> None:
        check_writable(self._read_only, self._address)
        if self._holds(ids):
            for start, stop in _batches([_size(one) for one in ids]):
                self._collection.delete(has_id(ids[start:stop]))

    # Reading

    def _get(self, ids: list[Any]) -> list[Item | None]:
        found: dict[Any, Item] = {}
        if self._holds(ids):
            for start, stop in _batches([_size(one) for one in ids]):
                for row in self._collection.query(has_id(ids[start:stop]), ["id", "code", "meta"]):
                    found[row["id"]] = Item(row["id"], self._code(row), row["meta"])
        return [found.get(one) for one in ids]

    def _count(self) -> int:
        return int(self._collection.query("", ["count(*)"])[0]["count(*)"]) if self._has_items() else 0

    def _scan(self, batch: int) -> Iterator[tuple[list[Any], Codes]]:
        ranges = [""] if self._has_items() else []
        while ranges:
            part = ranges.pop()
            rows = self._collection.query(part, ["id", "code"], limit=self._window)
            if len(rows) == self._window:
                ranges += _halves(part, [row["id"] for row in rows])
                continue
            for start in range(0, len(rows), batch):
                some = rows[start : start + batch]
                yield [row["id"] for row in some], np.stack([self._code(row) for row in some])

    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]:
        if not self._has_items():
            return [Hits([], []) for _ in queries]
        condition = "" if where is None else expression(where)
        asked, scale = self._vectors.asked(queries, by), self._vectors.scale(by)
        limit = min(self._window, 2 * k + 64)  # more than k, so that it mostly covers ties at the k-th place
        found = self._collection.nearest(asked, scale, limit, condition)
        doubtful: dict[int, list[int]] = {}  # distance → the queries that may be missing hits there
        for row, pairs in enumerate(found):
            pairs.sort()
            if len(pairs) == limit and pairs[min(k, limit) - 1][0] == (last := pairs[-1][0]):
                found[row] = [pair for pair in pairs if pair[0] < last]
                doubtful.setdefault(last, []).append(row)
        while doubtful:
            distance = min(doubtful)
            rows = doubtful.pop(distance)
            missing = [k - len(found[row]) for row in rows]
            rings = self._rings(asked[rows], scale, (distance, distance), condition, missing)
            for row, ring in zip(rows, rings, strict=True):
                found[row] += ring
                if len(found[row]) < k and distance < self.layout.farthest(by):
                    doubtful.setdefault(distance + 1, []).append(row)
        return [_hits(pairs, k) for pairs in found]

    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]:
        if not self._has_items():
            return [Hits([], []) for _ in queries]
        condition = "" if where is None else expression(where)
        asked, scale = self._vectors.asked(queries, by), self._vectors.scale(by)
        return [_hits(pairs) for pairs in self._rings(asked, scale, (0, radius), condition)]

    def _rings(
        self,
        queries: Codes,
        scale: Scale,
        ring: tuple[int, int],
        condition: str,
        most: Sequence[int] | None = None,
    ) -> list[list[Pair]]:
        """All items in a ring of distances around each query; the first ``most`` by id are enough."""
        limit = min(self._window, FIRST_WINDOW)  # with a small window, more queries fit into one request
        rings = self._collection.nearest(queries, scale, limit, condition, ring)
        for row, pairs in enumerate(rings):
            if len(pairs) == limit:
                enough = None if most is None else most[row]
                rings[row] = self._whole_ring(queries[row : row + 1], scale, ring, condition, enough)
        return rings

    def _whole_ring(
        self, query: Codes, scale: Scale, ring: tuple[int, int], condition: str, enough: int | None
    ) -> list[Pair]:
        found: list[Pair] = []
        ranges = [condition]
        while ranges and (enough is None or len(found) < enough):
            part = ranges.pop()
            pairs = self._collection.nearest(query, scale, self._window, part, ring)[0]
            if len(pairs) < self._window:
                found += pairs
            else:
                ranges += _halves(part, [one for _, one in pairs])
        return found

    def _code(self, row: dict[str, Any]) -> Codes:
        return self._vectors.code(row["code"][0])

    # The collection

    def _has_items(self) -> bool:
        """Whether there ever were items; another process may have added them since the last look."""
        if self._kind is None:
            held = self._collection.held()
            if held is not None and held.ids:
                self._settle(held)
        return self._kind is not None

    def _holds(self, ids: list[Any]) -> bool:
        """Whether ids like these can be stored here; raises if they are of the wrong kind."""
        has_items = self._has_items()
        check_kind(kind_of(ids), self._kind)
        return has_items

    def _settle(self, held: Held) -> None:
        held.check(self.layout, self.model, self._address)
        self._collection.make_ready()
        self._kind = held.ids

    def _close(self) -> None:
        self._collection.close()


def _size(one: int | str) -> int:
    """The most bytes an id can take in a request."""
    return 24 if isinstance(one, int) else 10 * len(one)


def _batches(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Cut rows of these sizes into ranges that each fit into one request."""
    start = total = 0
    for row, size in enumerate(sizes):
        if row > start and (row - start == ROWS_PER_REQUEST or total + size > BYTES_PER_REQUEST):
            yield start, row
            start, total = row, 0
        total += size
    yield start, len(sizes)


def _halves(condition: str, ids: list[Any]) -> list[str]:
    """Split a condition in two at the middle of ``ids``; the half with the lower ids comes last."""
    middle = literal(sorted(ids)[len(ids) // 2])
    return [all_of([condition, f"id >= {middle}"]), all_of([condition, f"id < {middle}"])]


def _hits(pairs: list[Pair], k: int | None = None) -> Hits:
    ordered = sorted(pairs)[:k]
    return Hits([one for _, one in ordered], [distance for distance, _ in ordered])
