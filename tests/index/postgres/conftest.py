"""A Postgres server for the tests of this folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from pts3h.index import Index, open_index

from .server import running_server, uri


@dataclass
class PostgresPlace:
    """A database, and tables in it that are gone at the end of a test.

    Attributes:
        database: ``postgresql://user:password@host:port/database``.
    """

    database: str
    made: int = 0
    prefix: str = f"pts3h_test_{os.getpid()}"

    def address(self) -> str:
        """A new address, nothing there yet."""
        self.made += 1
        return f"{self.database}/{self.prefix}_{self.made}"

    def open(self, address: str, **options) -> Index:
        return open_index(address, **options)

    @property
    def server(self) -> str:
        """``host:port``."""
        return self.database.rpartition("@")[2].partition("/")[0]

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a statement as another program would."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def clean(self) -> None:
        made = "SELECT relname FROM pg_class WHERE relkind = 'r' AND starts_with(relname, %s)"
        for (name,) in self.sql(made, self.prefix):
            self.sql(f'DROP TABLE "{name}" CASCADE')


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresPlace]:
    """The database in POSTGRES_URI (postgresql://user:password@host:port/database), or one for this run."""
    given = os.environ.get("POSTGRES_URI")
    if given:
        yield PostgresPlace(given)
        return
    with running_server() as server:
        yield PostgresPlace(uri(server))


@pytest.fixture
def postgres(postgres_server: PostgresPlace) -> Iterator[PostgresPlace]:
    yield postgres_server
    postgres_server.clean()
