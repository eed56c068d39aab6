"""Index in a table of a Postgres database, by pgvector: the same contract in a database people have already.

Every call is of one moment: what it writes is seen as a whole or not at all, what it reads belongs together.
Writers take turns by a lock on the table; readers wait for nobody.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from psycopg.sql import Identifier

from ...codes import By, Codes, Layout, as_text
from ...errors import UserError
from ...util.addresses import shown_address
from ..contract import Hits, IdKind, Index, Item, check_kind, check_writable, kind_of, no_index
from ..filters import Filter
from ..held import Held
from ..metadata import Meta, as_json
from .connection import Connection, Connections
from .database import check_database
from .distances import Distances
from .items import Items
from .table import Table


class PostgresIndex(Index):
    """See :func:`.opening.open_postgres`."""

    def __init__(
        self,
        connections: Connections,
        address: str,
        layout: Layout | None,
        model: str | None,
        *,
        read_only: bool,
        graphs: bool,
    ) -> None:
        self._connections, self._address, self._read_only = connections, address, read_only
        self._table = Table(Identifier(*connections.address.table), shown_address(address))
        self._process = os.getpid()
        wanted = None if read_only or layout is None else Held.of(layout, model, None)

        def find(connection: Connection) -> tuple[Held, str]:
            held = self._table.held(connection)
            found = held or wanted
            if found is None:
                raise no_index(address, read_only)
            schema = check_database(connection, graphs=graphs, create=not read_only)
            return held or self._table.make(connection, found), schema

        held, schema = connections.run(find)
        held.check(layout, model, address)
        self.layout, self.model = held.layout, held.model or model
        self._distances = Distances(held.layout, schema)
        self._items = None if held.ids is None else self._of_kind(held.ids)
        self._graphs = self._find_graphs() if graphs else []

    # Writing

    def _add(self, ids: list[Any], codes: Codes, meta: list[Meta]) -> None:
        facts = [as_json(one, row) for one, row in zip(ids, meta, strict=True)]
        self._write(ids, lambda items, connection: items.put(connection, ids, codes, facts))

    def _remove(self, ids: list[Any]) -> None:
        if self._holds(ids):
            self._write(ids, lambda items, connection: items.remove(connection, ids))

    def _write(self, ids: list[Any], change: Callable[[Items, Connection], None]) -> None:
        check_writable(self._read_only, self._address)
        complete = False

        def work(connection: Connection) -> None:
            nonlocal complete
            with connection.transaction():
                self._table.lock(connection)
                change(self._settle(connection, kind_of(ids)), connection)
                complete = True

        try:
            self._connections.run(work)
        except UserError as error:
            if not complete:
                raise  # and nothing was stored
            raise UserError(f"{error} (nobody knows whether the change was stored; make it again)") from error

    def _settle(self, connection: Connection, kind: IdKind) -> Items:
        """The items, among which ids of this kind may be. The lock is held, so nobody changes the table."""
        held = self._look(connection)
        check_kind(kind, held.ids)
        if held.ids is None:
            self._table.add_columns(connection, self.layout, kind)
        return self._of_kind(kind)

    # Reading

    def _get(self, ids: list[Any]) -> list[Item | None]:
        if (items := self._holds(ids)) is None:
            return [None for _ in ids]

        def work(connection: Connection) -> list[Item | None]:
            with connection.transaction():
                return items.get(connection, ids)

        return self._connections.run(work)

    def _count(self) -> int:
        items = self._known()
        return 0 if items is None else self._connections.run(items.count)

    def _scan(self, batch: int) -> Iterator[tuple[list[Any], Codes]]:
        if (items := self._known()) is not None:
            with self._connections.alone() as connection:
                yield from items.scan(connection, batch)

    def _search(self, queries: Codes, k: int, where: Filter | None, by: By) -> list[Hits]:
        def find(items: Items, connection: Connection, query: str) -> Hits:
            if by in self._graphs:
                hits = items.about_nearest(connection, query, by, where, k)
                if len(hits) == k:
                    return hits
            return items.nearest(connection, query, by, where, k)

        return self._each(queries, find)

    def _within(self, queries: Codes, radius: int, where: Filter | None, by: By) -> list[Hits]:
        return self._each(
            queries, lambda items, connection, query: items.within(connection, query, by, where, radius)
        )

    def _each(self, queries: Codes, find: Callable[[Items, Connection, str], Hits]) -> list[Hits]:
        if (items := self._known()) is None:
            return [Hits() for _ in queries]
        texts = as_text(queries, self.bits)

        def work(connection: Connection) -> list[Hits]:
            single = len(texts) == 1  # a single request sees one moment by itself
            with nullcontext() if single else connection.transaction():
                return [find(items, connection, text) for text in texts]

        return self._connections.run(work)

    # The table

    def _known(self) -> Items | None:
        """The items, once there ever were some; another process may have added them since the last look."""
        if self._items is None and (kind := self._connections.run(self._look).ids) is not None:
            self._items = self._of_kind(kind)
        return self._items

    def _look(self, connection: Connection) -> Held:
        """What the table holds now; somebody may have dropped it, or made another one."""
        held = self._table.held(connection)
        if held is None:
            raise UserError(f"the table at {self._table.shown} does not exist; was the table dropped?")
        held.check(self.layout, self.model, self._address)
        return held

    def _of_kind(self, kind: IdKind) -> Items:
        return Items(self._table.name, kind, self._distances)

    def _holds(self, ids: list[Any]) -> Items | None:
        """The items, among which ids like these may be; raises if they are of the wrong kind."""
        items = self._known()
        check_kind(kind_of(ids), None if items is None else items.kind)
        return items

    def _find_graphs(self) -> list[By]:
        """By what can be searched through an HNSW index."""
        found = [] if self._items is None else self._connections.run(self._items.graphs)
        if not found:
            statement = self._distances.graph(self._table.name).as_string(None)
            raise UserError(
                f"the table at {self._table.shown} has no HNSW index; add items, run {statement}, and open "
                "it again, or open it without ef_search="
            )
        return found

    def _check_open(self) -> None:
        super()._check_open()
        if os.getpid() != self._process:  # two processes on one connection would take each other's answers
            raise UserError("the index was opened before this process was forked; open it again in this one")

    def _close(self) -> None:
        if os.getpid() == self._process:
            self._connections.close()
