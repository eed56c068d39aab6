"""Metadata of a local index. Everything here runs inside a transaction of the store.

``meta`` holds the metadata of each item that has any. ``facts`` holds the values again, by key and value, so
that one condition of a filter is one lookup in a database index. Of a long text, only the beginning is there,
under a kind of its own: where beginnings are equal, ``meta`` decides.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ..filters import Compare, OneOf, Scalar, kind, matches
from ..metadata import Meta, as_json
from .damage import Damage
from .info import Info

SCHEMA = """
CREATE TABLE meta (id PRIMARY KEY, json TEXT, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE facts (key TEXT, kind TEXT, value, id, PRIMARY KEY (key, kind, value, id)) WITHOUT ROWID;
"""
# Longer texts are cut: each comparison on the way through the database index reads the whole value.
LONG = 200
BEGINNING = "beginning of a text"  # the kind of what is left of them
VALUES_PER_QUERY = 500


class Metadata:
    """The metadata tables behind a connection."""

    def __init__(self, connection: sqlite3.Connection, info: Info) -> None:
        self._connection = connection
        self._checked = info.checked

    def put(self, ids: Sequence[Any], meta: Sequence[Meta]) -> None:
        """Replace the metadata of these items."""
        self.drop(ids)
        filled = [(one, row) for one, row in zip(ids, meta, strict=True) if row]
        texts = ((one, as_json(one, row)) for one, row in filled)
        if self._checked:
            rows = ((one, text, _checksum(one, text)) for one, text in texts)
            self._connection.executemany("INSERT INTO meta VALUES (?, ?, ?)", rows)
        else:
            self._connection.executemany("INSERT INTO meta VALUES (?, ?)", texts)
        # in the order of the table, so that neighbours are written together
        facts = sorted(fact for one, row in filled for fact in self._facts(one, row))
        self._connection.executemany("INSERT INTO facts VALUES (?, ?, ?, ?)", facts)

    def drop(self, ids: Sequence[Any]) -> None:
        """Delete the metadata of these items."""
        if self._connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone() is None:
            return
        for one, row in zip(ids, self.get(ids), strict=True):
            if row:
                self._connection.execute("DELETE FROM meta WHERE id = ?", (one,))
                self._connection.executemany(
                    "DELETE FROM facts WHERE key = ? AND kind = ? AND value = ? AND id = ?",
                    self._facts(one, row),
                )

    def get(self, ids: Sequence[Any]) -> list[Meta]:
        """The metadata of these items, an empty dict for an item without any."""
        columns = "id, json, checksum" if self._checked else "id, json"
        rows: dict[Any, list[Any]] = {}
        for start in range(0, len(ids), VALUES_PER_QUERY):
            some = ids[start : start + VALUES_PER_QUERY]
            marks = (
                1 << (len(some) - 1).bit_length()
            )  # few different statements, so that SQLite keeps them all
            query = f"SELECT {columns} FROM meta WHERE id IN (?{', ?' * (marks - 1)})"  # nosec B608  # fixed texts
            asked = [*some, *[some[-1]] * (marks - len(some))]
            rows.update((one, row) for one, *row in self._connection.execute(query, asked))
        return [self._read(one, *rows[one]) if one in rows else {} for one in ids]

    def _read(self, one: Any, text: str, checksum: int | None = None) -> Meta:
        try:
            if self._checked and checksum != _checksum(one, text):
                raise Damage
            meta = json.loads(text)
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise Damage from error
        if not isinstance(meta, dict):
            raise Damage
        return meta

    def ids_where(self, condition: Compare | OneOf) -> list[Any]:
        """The ids of the items for which one condition holds; some may come twice."""
        if isinstance(condition, OneOf):
            return list(self._one_of(condition))
        operator = {"==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}[condition.op]
        found = self._ids(condition.key, str(kind(condition.value)), f"{operator} ?", [condition.value])
        if self._checked and isinstance(condition.value, str):
            found += self._long_texts(condition)
        return found

    def _one_of(self, condition: OneOf) -> Iterator[Any]:
        for its_kind, same in groupby(sorted(condition.values, key=_kind), _kind):
            values = list(dict.fromkeys(same))
            for start in range(0, len(values), VALUES_PER_QUERY):
                some = values[start : start + VALUES_PER_QUERY]
                yield from self._ids(condition.key, its_kind, f"IN ({', '.join('?' * len(some))})", some)
            if self._checked and its_kind == "text":
                for value in values:
                    if len(str(value)) > LONG:
                        yield from self._long_texts(Compare(condition.key, "==", value))

    def _long_texts(self, condition: Compare) -> list[Any]:
        """Ids of items with a text that is cut: beginnings that differ decide as the whole would."""
        beginning = str(condition.value)[:LONG]
        decided = {"<": "< ?", "<=": "< ?", ">": "> ?", ">=": "> ?"}.get(condition.op)
        found = self._ids(condition.key, BEGINNING, decided, [beginning]) if decided else []
        equal = self._ids(condition.key, BEGINNING, "= ?", [beginning])
        whole = zip(equal, self.get(equal), strict=True)
        return found + [one for one, meta in whole if matches(condition, meta)]

    def _ids(self, key: str, its_kind: str, compared: str, values: Iterable[Scalar]) -> list[Any]:
        # compared is an operator and question marks, never a user's text
        chosen = f"FROM facts WHERE key = ? AND kind = ? AND value {compared}"
        given = (key, its_kind, *values)
        try:  # all in one text: row by row, Python would let go of its lock and wait for it again at every id
            (text,) = self._connection.execute(f"SELECT json_group_array(id) {chosen}", given).fetchone()  # nosec B608
        except sqlite3.DataError:  # longer than SQLite lets a text be
            return [one for (one,) in self._connection.execute(f"SELECT id {chosen}", given)]  # nosec B608
        found: list[Any] = json.loads(text)
        return found

    def _facts(self, one: Any, meta: Meta) -> Iterator[tuple[str, str, Scalar, Any]]:
        for key, value in meta.items():
            its_kind = kind(value)
            if self._checked and its_kind == "text" and len(value) > LONG:
                yield key, BEGINNING, value[:LONG], one
            elif its_kind is not None:
                yield key, its_kind, value, one


def _kind(value: Scalar) -> str:
    return str(kind(value))


def _checksum(one: Any, text: str) -> int:
    return zlib.crc32(text.encode(), zlib.crc32(str(one).encode()))
