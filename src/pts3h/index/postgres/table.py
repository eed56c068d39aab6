"""One table: how it is made, and what it says of itself.

A table has the columns ``id``, ``meaning``, ``look`` (if the codes have look bits) and ``meta``. Its comment
says what it holds. Postgres fixes the type of a column when it is made, but an index learns the type of its
ids from its first items. Until then the table has no columns.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from psycopg import errors
from psycopg.sql import SQL, Composable, Identifier, Literal

from ...codes import Layout
from ...errors import UserError
from ..contract import IdKind
from ..held import Held
from .connection import Connection

TYPES: dict[IdKind, str] = {"int": "bigint", "text": "text"}
# Text is in the order of code points, whatever the database prefers. A B-tree holds no text of more than
# 2,700 bytes, so text is unique by a hash index.
IDS: dict[IdKind, SQL] = {
    "int": SQL("id bigint PRIMARY KEY"),
    "text": SQL('id text COLLATE "C" NOT NULL, ADD EXCLUDE USING hash (id WITH =)'),
}


@dataclass(frozen=True)
class Table:
    """A table that holds an index, or will.

    Attributes:
        name: quoted, after that of its schema if one was given.
        shown: what messages call it.
    """

    name: Identifier
    shown: str

    def held(self, connection: Connection) -> Held | None:
        """What the table holds (``ids`` is None before the first items); None if there is no table."""
        found = connection.execute(
            "SELECT oid, obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(%s)",
            [self.name.as_string(connection)],
        ).fetchone()
        if found is None:
            return None
        held = Held.read(found[1], f"the table at {self.shown}")
        columns: dict[str, str] = dict(
            connection.execute(
                "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
                "WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped",
                [found[0]],
            ).fetchall()
        )
        if not columns:
            return replace(held, ids=None)
        parts = {name: f"bit({size})" for name, size in parts_of(held.layout).items()}
        for kind, type_ in TYPES.items():
            if {"id": type_, **parts, "meta": "jsonb"}.items() <= columns.items():
                return replace(held, ids=kind)
        needed = ", ".join(f"{name} {type_}" for name, type_ in parts.items())
        raise UserError(
            f"the table at {self.shown} was changed by another program; it needs the columns id bigint (or "
            f"text), {needed}, meta jsonb"
        )

    def make(self, connection: Connection, held: Held) -> Held:
        """Create the table, without columns; return what is there.

        If two processes create it at the same time, the first one wins; the second sees it in the answer.
        """
        made = (errors.DuplicateTable, errors.DuplicateObject, errors.UniqueViolation)  # just now
        with suppress(*made), connection.transaction():
            connection.execute(SQL("CREATE TABLE {} ()").format(self.name))
            comment = SQL("COMMENT ON TABLE {} IS {}").format(self.name, Literal(held.described()))
            connection.execute(comment)
        return self.held(connection) or held

    def lock(self, connection: Connection) -> None:
        """Until the end of the transaction nobody else writes. Others can read."""
        connection.execute(SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(self.name))

    def add_columns(self, connection: Connection, layout: Layout, kind: IdKind) -> None:
        """Make the columns for items with ids of this kind."""
        columns: list[Composable] = [IDS[kind]]
        for name, size in parts_of(layout).items():
            columns.append(SQL("{} bit({}) NOT NULL").format(Identifier(name), Literal(size)))
        added = SQL(", ADD ").join([*columns, SQL("meta jsonb NOT NULL")])
        connection.execute(SQL("ALTER TABLE {} ADD {}").format(self.name, added))


def parts_of(layout: Layout) -> dict[str, int]:
    """The columns of a code, and how many bits each has."""
    return {"meaning": layout.meaning} | ({"look": layout.look} if layout.look else {})
