"""Codes as an SQLite database with a ``vec0`` table of sqlite-vec, ``items(id, code, meta)``.

The table counts in whole bytes, as faiss does. It is read and written through apsw, whose SQLite loads
extensions; that of Python often cannot. What the codes are is in a table of its own, ``about``.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..codes import code_bytes
from ..errors import UserError
from ..util.extras import from_extra
from ..util.files import write_atomic
from .about import About
from .items import Batch, Incoming, Outgoing, in_batches
from .meta_text import meta_texts, read_meta_text
from .unreadable import refused_as

KIND = "a database with a vec0 table"
VEC0 = re.compile(
    r"CREATE\s+VIRTUAL\s+TABLE\b.*\bUSING\s+vec0\b.*\bcode\s+bit\[(\d+)\]", re.IGNORECASE | re.DOTALL
)


def _apsw() -> Any:
    return from_extra("apsw", "sqlite-vec", wants="an SQLite file with vec0")


def _connect(path: Path, flags: int) -> Any:
    """A connection that knows vec0."""
    extension = from_extra("sqlite_vec", "sqlite-vec", wants="an SQLite file with vec0")
    connection = _apsw().Connection(str(path), flags=flags)
    try:
        connection.enable_load_extension(True)
        connection.load_extension(extension.loadable_path())
        connection.enable_load_extension(False)
    except BaseException:
        connection.close()
        raise
    return connection


def write_sqlite_vec(path: Path, items: Outgoing) -> None:
    """Write the database, some rows at a time."""
    apsw = _apsw()
    reasons = {
        apsw.FullError: errno.ENOSPC,
        apsw.IOError: errno.EIO,
        apsw.ReadOnlyError: errno.EROFS,
        apsw.CantOpenError: errno.EACCES,
    }

    def write(file: BinaryIO) -> None:
        try:
            with closing(_connect(Path(file.name), apsw.SQLITE_OPEN_READWRITE)) as connection:
                _fill(connection, items)
        except tuple(reasons) as error:
            raise OSError(reasons[type(error)], str(error)) from error

    write_atomic(path, write)


def _fill(connection: Any, items: Outgoing) -> None:
    about = items.about
    connection.execute("PRAGMA journal_mode = OFF")  # the file takes its place when it is whole, not before
    connection.execute("PRAGMA synchronous = OFF")
    id_column = f"id {'TEXT' if about.ids == 'text' else 'INTEGER'} PRIMARY KEY"
    bits = 8 * code_bytes(about.layout.bits)
    with connection:
        connection.execute("CREATE TABLE about (json TEXT NOT NULL)")
        connection.execute("INSERT INTO about VALUES (?)", (about.to_json(),))
        connection.execute(
            f"CREATE VIRTUAL TABLE items USING vec0({id_column}, code bit[{bits}], +meta TEXT)"
        )
        for batch in items.batches:
            codes = (code.tobytes() for code in batch.codes)
            rows = zip(batch.ids, codes, meta_texts(batch), strict=True)
            connection.executemany("INSERT INTO items (id, code, meta) VALUES (?, vec_bit(?), ?)", rows)


def read_sqlite_vec(path: Path) -> Incoming:
    """Any ``vec0`` table ``items`` with the columns ``id`` and ``code bit[...]``, and maybe ``meta``."""
    apsw = _apsw()
    with refused_as(path, KIND, apsw.Error):
        connection = _connect(path, apsw.SQLITE_OPEN_READONLY)
        # whoever wrote the file may have written more into it than data
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        declared = VEC0.search(tables.get("items") or "")
        if declared is None:
            raise UserError(f"{path} has no vec0 table called items with the columns id and code bit[...]")
        said = connection.execute("SELECT json FROM about").fetchone() if "about" in tables else None
        about = None if said is None else About.from_json(said[0], path)
        (count,) = connection.execute("SELECT count(*) FROM items").fetchone()
    return Incoming(count, _batches(connection, path), about, bits=int(declared[1]))


def _batches(connection: Any, path: Path) -> Iterator[Batch]:
    with refused_as(path, KIND, _apsw().Error), closing(connection):
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(items)")]
        with_meta, without = "SELECT id, code, meta FROM items", "SELECT id, code, NULL FROM items"
        query = with_meta if "meta" in columns else without
        for rows in in_batches(connection.execute(query)):
            ids = [one for one, _, _ in rows]
            codes = np.frombuffer(b"".join(code for _, code, _ in rows), np.uint8).reshape(len(rows), -1)
            yield Batch(ids, codes, [read_meta_text(text, one, path) for one, _, text in rows])
