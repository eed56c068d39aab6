"""One collection on a Milvus server: how it is created, what its description says, and the requests to it.

A collection has the fields ``id``, ``code`` and ``meta``. Its description says what it holds. Milvus fixes
the type of the ids when a collection is created, but an index learns it from its first items. Until then, an
empty collection with a longer name, the placeholder, has the description.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...codes import Codes
from ...errors import UserError
from ..contract import MAX_ID_BYTES
from ..held import Held
from .connection import Connection
from .vectors import Scale, Vectors

Consistency = Literal["strong", "session", "bounded", "eventually"]
IndexType = Literal["BIN_FLAT", "BIN_IVF_FLAT"]
Pair = tuple[int, Any]  # distance, id

HITS_PER_REQUEST = 131_072  # keeps an answer down to a few megabytes
QUERIES_PER_REQUEST = 1024
LOAD_SECONDS = 600.0
PLACEHOLDER = "__no_items_yet"


@dataclass(frozen=True)
class Options:
    """How a collection is read, and how a new one is indexed; see :func:`.index.open_milvus`."""

    consistency: Consistency
    index_type: IndexType
    nlist: int
    nprobe: int | None


class Collection:
    """Requests to one collection. ``address`` is what messages call it."""

    def __init__(self, connection: Connection, name: str, address: str, options: Options) -> None:
        self._call = connection.call
        self._name, self._address, self._options = name, address, options
        self._nlist = options.nlist
        self.close = connection.close

    def held(self) -> Held | None:
        """What the collection holds (``ids`` is None if it is only a placeholder); None if there is none."""
        return self._described(self._name) or self._described(self._name + PLACEHOLDER)

    def make(self, held: Held) -> Held:
        """Create the collection, or a placeholder while the kind of ids is unknown; return what is there.

        If two processes create it at the same time, the first one wins; the second sees it in the answer.
        """
        self._create(self._name if held.ids else self._name + PLACEHOLDER, held)
        if held.ids:
            self._call("drop_collection", self._name + PLACEHOLDER)
        return self.held() or held

    def make_ready(self) -> None:
        """Index and load the collection if need be; an earlier process may have stopped in between."""
        if not self._call("list_indexes", self._name):
            from pymilvus import MilvusClient

            index = MilvusClient.prepare_index_params()
            kind, nlist = self._options.index_type, self._options.nlist
            parameters = {"nlist": nlist} if kind == "BIN_IVF_FLAT" else {}
            index.add_index("code", index_type=kind, metric_type="HAMMING", params=parameters)
            self._call("create_index", self._name, index, sync=False)
        self._nlist = int(self._call("describe_index", self._name, "code").get("nlist", 0))
        deadline = time.monotonic() + LOAD_SECONDS
        while (state := self._call("get_load_state", self._name)["state"].name) != "Loaded":
            if state == "NotLoad":
                self._call("load_collection", self._name, _async=True)
            if time.monotonic() > deadline:
                message = f"Milvus did not load {self._address} in {LOAD_SECONDS:g} s; is its memory full?"
                raise UserError(message)
            time.sleep(0.05)

    def upsert(self, rows: list[dict[str, Any]]) -> None:
        """Write items; an item whose id is there already is replaced."""
        self._call("upsert", self._name, rows)

    def delete(self, condition: str) -> None:
        """Remove the items for which the condition holds."""
        self._call("delete", self._name, filter=condition)

    def query(self, condition: str, fields: list[str], limit: int | None = None) -> list[dict[str, Any]]:
        """These fields of items for which the condition holds, in any order."""
        more = {} if limit is None else {"limit": limit}
        level = self._options.consistency.capitalize()
        return list(
            self._call(
                "query", self._name, filter=condition, output_fields=fields, consistency_level=level, **more
            )
        )

    def nearest(
        self,
        queries: Codes,
        scale: Scale,
        limit: int,
        condition: str,
        ring: tuple[int, int] | None = None,
    ) -> list[list[Pair]]:
        """The nearest hits of each query, at most ``limit``, ties in any order.

        Args:
            queries: (q, bytes) vectors; see :meth:`.vectors.Vectors.asked`.
            scale: how their distances are read.
            limit: the most hits per query.
            condition: which items count; empty for all.
            ring: the smallest and the largest distance that count.
        """
        parameters: dict[str, Any] = {"nprobe": self._options.nprobe or self._nlist} if self._nlist else {}
        if ring is not None:  # Milvus includes the inner limit, not the outer one
            parameters |= {
                "range_filter": scale.of_vectors(ring[0]),
                "radius": scale.of_vectors(ring[1]) + 1,
            }
        step = min(QUERIES_PER_REQUEST, max(1, HITS_PER_REQUEST // limit))
        found: list[list[Pair]] = []
        for start in range(0, len(queries), step):
            answers: Sequence[Any] = self._call(
                "search",
                self._name,
                data=[query.tobytes() for query in queries[start : start + step]],
                anns_field="code",
                filter=condition,
                limit=limit,
                consistency_level=self._options.consistency.capitalize(),
                search_params={"metric_type": "HAMMING", "params": parameters},
            )
            found += [
                [(scale.of_codes(round(d)), one) for d, one in zip(hits.distances, hits.ids, strict=True)]
                for hits in answers
            ]
        return found

    def _described(self, name: str) -> Held | None:
        if not self._call("has_collection", name):
            return None
        description = self._call("describe_collection", name)["description"]
        return Held.read(description, f"the collection at {self._address}")

    def _create(self, name: str, held: Held) -> None:
        from pymilvus import DataType, MilvusClient

        schema = MilvusClient.create_schema(
            auto_id=False, enable_dynamic_field=False, description=held.described()
        )
        if held.ids == "text":
            schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=MAX_ID_BYTES)
        else:
            schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("code", DataType.BINARY_VECTOR, dim=Vectors(held.layout).dimension)
        schema.add_field("meta", DataType.JSON)
        try:
            self._call("create_collection", name, schema=schema)
        except UserError as error:
            if "different parameters" not in str(error):  # another process created it just now
                raise
