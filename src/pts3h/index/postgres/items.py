"""The items of a table: how they are written, read and searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composable, Composed, Identifier

from ...codes import By, Codes, Layout, as_text, from_text
from ..contract import Hits, IdKind, Item
from ..filters import Filter
from .conditions import Expression, condition, exact_numbers
from .connection import Connection
from .distances import Distances
from .table import parts_of

ROWS_PER_REQUEST = 8192  # so that a large add is many requests, each of which ends in time
LARGEST = 2**63 - 1  # that Postgres counts to
ARRAYS: dict[IdKind, SQL] = {"int": SQL("bigint[]"), "text": SQL("text[]")}
EVERYTHING: Expression = (SQL("true"), [])


@dataclass(frozen=True)
class Items:
    """Requests about the items of one table over a connection.

    Attributes:
        table: its name, quoted.
        kind: of its ids.
        distances: how it is measured.
    """

    table: Identifier
    kind: IdKind
    distances: Distances

    @property
    def layout(self) -> Layout:
        """What the bits of the codes are."""
        return self.distances.layout

    def put(self, connection: Connection, ids: list[Any], codes: Codes, meta: list[str]) -> None:
        """Write items with metadata in JSON; an item whose id is there already is replaced."""
        columns = SQL(", ").join(map(Identifier, ["id", *parts_of(self.layout), "meta"]))
        copying = SQL("COPY {} ({}) FROM STDIN").format(self.table, columns)
        cut = self.layout.meaning
        for some in _requests(ids):
            self.remove(connection, ids[some])
            texts = as_text(codes[some], self.layout.bits)
            with connection.cursor() as cursor, cursor.copy(copying) as copy:
                for one, bits, facts in zip(ids[some], texts, meta[some], strict=True):
                    parts = (bits[:cut], bits[cut:]) if self.layout.look else (bits,)
                    copy.write_row((one, *parts, exact_numbers(facts)))

    def remove(self, connection: Connection, ids: list[Any]) -> None:
        """Remove the items with these ids."""
        deleting = SQL("DELETE FROM {} WHERE {}").format(self.table, self._has_id)
        for some in _requests(ids):
            connection.execute(deleting, [ids[some]])

    def get(self, connection: Connection, ids: list[Any]) -> list[Item | None]:
        """The items with these ids, in the same order; None for one that is not there."""
        reading = SQL("SELECT id, {}, meta FROM {} WHERE {}").format(self._code, self.table, self._has_id)
        rows = [row for some in _requests(ids) for row in connection.execute(reading, [ids[some]])]
        codes = from_text([bits for _, bits, _ in rows], self.layout.bits)
        found = {one: Item(one, code, meta) for (one, _, meta), code in zip(rows, codes, strict=True)}
        return [found.get(one) for one in ids]

    def scan(self, connection: Connection, batch: int) -> Iterator[tuple[list[Any], Codes]]:
        """All ids with their codes, of one moment."""
        reading = SQL("SELECT id, {} FROM {}").format(self._code, self.table)
        with connection.transaction(), connection.cursor("scan") as cursor:
            cursor.execute(reading)
            while rows := cursor.fetchmany(batch):
                yield [one for one, _ in rows], from_text([bits for _, bits in rows], self.layout.bits)

    def count(self, connection: Connection) -> int:
        """How many items there are."""
        (counted,) = connection.execute(SQL("SELECT count(*) FROM {}").format(self.table))
        return int(counted[0])

    def nearest(self, connection: Connection, query: str, by: By, where: Filter | None, k: int) -> Hits:
        """The ``k`` nearest items."""
        measured, parameters = self._measured(self.distances.exact(query, by), where)
        statement = SQL("SELECT * FROM ({}) AS measured ORDER BY distance, id LIMIT %s").format(measured)
        return _hits(connection, statement, [*parameters, min(k, LARGEST)])

    def within(self, connection: Connection, query: str, by: By, where: Filter | None, radius: int) -> Hits:
        """All items within a radius."""
        measured, parameters = self._measured(self.distances.exact(query, by), where)
        inside = SQL("SELECT * FROM ({}) AS measured WHERE distance <= %s ORDER BY distance, id")
        return _hits(connection, inside.format(measured), [*parameters, radius])

    def about_nearest(self, connection: Connection, query: str, by: By, where: Filter | None, k: int) -> Hits:
        """About the ``k`` nearest items, as far as an HNSW index finds them; perhaps fewer."""
        measured, parameters = self._measured(self.distances.approximate(query, by), where)
        statement = SQL(
            "SELECT id, distance::int FROM ({} ORDER BY distance LIMIT %s) AS found ORDER BY distance, id"
        )
        return _hits(connection, statement.format(measured), [*parameters, min(k, LARGEST)])

    def graphs(self, connection: Connection) -> list[By]:
        """By what Postgres can search in order without sorting: it then has an HNSW index for that."""
        ways: list[By] = ["meaning", "look", "both"] if self.layout.look else ["meaning", "both"]
        found: list[By] = []
        with connection.transaction():
            connection.execute("SET LOCAL enable_seqscan = off")
            for by in ways:
                distance, parameters = self.distances.approximate("0" * self.layout.bits, by)
                planned = SQL("EXPLAIN SELECT id FROM {} ORDER BY {} LIMIT 1").format(self.table, distance)
                if any("Index Scan" in line for (line,) in connection.execute(planned, parameters)):
                    found.append(by)
        return found

    def _measured(self, distance: Expression, where: Filter | None) -> Expression:
        """Ids and distances of the items that count."""
        text, parameters = EVERYTHING if where is None else condition(where)
        measured = SQL("SELECT id, {} AS distance FROM {} WHERE {}").format(distance[0], self.table, text)
        return measured, [*distance[1], *parameters]

    @property
    def _has_id(self) -> Composable:
        return SQL("id = ANY (%s::{})").format(ARRAYS[self.kind])

    @property
    def _code(self) -> Composable:
        return SQL("({})::text").format(SQL(" || ").join(map(Identifier, parts_of(self.layout))))


def _requests(ids: list[Any]) -> Iterator[slice]:
    for start in range(0, len(ids), ROWS_PER_REQUEST):
        yield slice(start, start + ROWS_PER_REQUEST)


def _hits(connection: Connection, statement: Composed, parameters: list[Any]) -> Hits:
    rows = connection.execute(statement, parameters).fetchall()
    return Hits([one for one, _ in rows], [distance for _, distance in rows])
