"""Metadata of a local index. Everything here runs inside a transaction of the store.

``meta`` holds the metadata of each item that has any. ``facts`` holds the values again, by key and value, so
that one condition of a filter is one lookup in a database index.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from ..filters import Compare, Scalar, kind
from ..metadata import Meta, as_json

SCHEMA = """
CREATE TABLE meta (id PRIMARY KEY, json TEXT) WITHOUT ROWID;
CREATE TABLE facts (key TEXT, kind TEXT, value, id, PRIMARY KEY (key, kind, value, id)) WITHOUT ROWID;
"""


class Metadata:
    """The metadata tables behind a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put(self, ids: Sequence[Any], meta: Sequence[Meta]) -> None:
        """Replace the metadata of these items."""
        self.drop(ids)
        filled = [(one, row) for one, row in zip(ids, meta, strict=True) if row]
        texts = ((one, as_json(one, row)) for one, row in filled)
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", texts)
        # in the order of the table, so that neighbours are written together
        facts = sorted(fact for one, row in filled for fact in _facts(one, row))
        self._connection.executemany("INSERT INTO facts VALUES (?, ?, ?, ?)", facts)

    def drop(self, ids: Sequence[Any]) -> None:
        """Delete the metadata of these items."""
        if self._connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone() is None:
            return
        for one, row in zip(ids, self.get(ids), strict=True):
            if row:
                self._connection.execute("DELETE FROM meta WHERE id = ?", (one,))
                self._connection.executemany(
                    "DELETE FROM facts WHERE key = ? AND kind = ? AND value = ? AND id = ?", _facts(one, row)
                )

    def get(self, ids: Sequence[Any]) -> list[Meta]:
        """The metadata of these items, an empty dict for an item without any."""
        found: list[Meta] = []
        for one in ids:
            row = self._connection.execute("SELECT json FROM meta WHERE id = ?", (one,)).fetchone()
            found.append(json.loads(row[0]) if row else {})
        return found

    def ids_where(self, condition: Compare) -> list[Any]:
        """The ids of the items for which one condition holds."""
        operator = {"==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}[condition.op]
        rows = self._connection.execute(
            f"SELECT id FROM facts WHERE key = ? AND kind = ? AND value {operator} ?",
            (condition.key, kind(condition.value), condition.value),
        )
        return [one for (one,) in rows]


def _facts(one: Any, meta: Meta) -> Iterator[tuple[str, str, Scalar, Any]]:
    for key, value in meta.items():
        if (its_kind := kind(value)) is not None:
            yield key, its_kind, value, one
