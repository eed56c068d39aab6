"""Distances as SQL. A query is a text of zeros and ones, as :func:`pts3h.codes.as_text` writes it.

The exact distance is cast to a whole number, so that Postgres never takes the answer from an HNSW index: such
an index orders by ``<~>`` itself. The approximate distance is that of a single vector, in which the meaning
stands as often as it counts. Its plain Hamming distance is the weighted one, and HNSW can order by it.
"""

from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Identifier, Literal

from ...codes import By, Layout
from .conditions import Expression


@dataclass(frozen=True)
class Part:
    """A column of bits: where they are in the code, and how much each counts."""

    column: str
    start: int
    size: int
    weight: int

    def of(self, query: str) -> str:
        """The same bits of a query."""
        return query[self.start : self.start + self.size]


@dataclass(frozen=True)
class Distances:
    """How far the items of a table are from a query.

    Attributes:
        layout: what the bits are.
        schema: where pgvector lies, so that it need not be on the search path.
    """

    layout: Layout
    schema: str

    def exact(self, query: str, by: By) -> Expression:
        """The distance, of which nothing is left to an index."""
        parts = self._parts(by)
        terms = [
            SQL("{} * ({})").format(Literal(part.weight), self._hamming(Identifier(part.column), part.size))
            for part in parts
        ]
        return SQL("({})::int").format(SQL(" + ").join(terms)), [part.of(query) for part in parts]

    def approximate(self, query: str, by: By) -> Expression:
        """The distance as an HNSW index can order by it."""
        bits = "".join(part.of(query) * part.weight for part in self._parts(by))
        return self._hamming(self._vector(by), len(bits)), [bits]

    def graph(self, table: Identifier) -> Composable:
        """The statement that makes an HNSW index for searches by both parts."""
        statement = SQL("CREATE INDEX ON {} USING hnsw ({} {})")
        return statement.format(table, self._vector("both"), Identifier(self.schema, "bit_hamming_ops"))

    def _vector(self, by: By) -> Composable:
        columns = [Identifier(part.column) for part in self._parts(by) for _ in range(part.weight)]
        if len(columns) == 1:
            return columns[0]
        joined = SQL(" || ").join(columns)
        return SQL("(({})::bit({}))").format(joined, Literal(self.layout.farthest(by)))

    def _parts(self, by: By) -> list[Part]:
        meaning, look = self.layout.weights(by)
        parts = [
            Part("meaning", 0, self.layout.meaning, meaning),
            Part("look", self.layout.meaning, self.layout.look, look),
        ]
        return [part for part in parts if part.size and part.weight]

    def _hamming(self, column: Composable, size: int) -> Composable:
        operator = SQL("OPERATOR({}.<~>)").format(Identifier(self.schema))
        return SQL("{} {} %s::bit({})").format(column, operator, Literal(size))
