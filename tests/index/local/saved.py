"""What lies in the folder of a local index, read without opening the index."""

import sqlite3
from contextlib import closing

from pts3h.codes import Layout
from pts3h.index.local import cache, store


def info_of(folder):
    """The named values of the database."""
    with closing(sqlite3.connect(folder / store.FILE)) as connection:
        return dict(connection.execute("SELECT name, value FROM info"))


def cache_of(folder, layout=None):
    """The saved segment and its state, if it is the one that the database names."""
    return cache.load(folder, layout or Layout(64), info_of(folder).get("cache"))


def change(folder, *statements):
    """Run SQL on the database."""
    with closing(sqlite3.connect(folder / store.FILE, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
