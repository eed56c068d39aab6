"""What a user may not do, and what a database or its server lacks."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from pts3h.index.postgres import database

from .checks import CODES, name_of, refused

pytestmark = pytest.mark.postgres


@pytest.fixture
def reader(postgres):
    """Somebody who may log in and no more; yields the address of a database as this user."""
    if postgres.sql("SELECT usesuper FROM pg_user WHERE usename = current_user") != [(True,)]:
        pytest.skip("needs an administrator, to make users")
    name = f"{postgres.prefix}_reader"
    postgres.sql(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
    yield f"postgresql://{name}:secret@{postgres.server}/{postgres.database.rpartition('/')[2]}"
    postgres.sql(f"DROP OWNED BY {name}")
    postgres.sql(f"DROP ROLE {name}")


class TestRights:
    def test_a_user_who_may_only_read(self, postgres, reader):
        address = postgres.address()
        table = name_of(address)
        with postgres.open(address, bits=64) as index:
            index.add([1, 2, 3], CODES)
        own = f"{reader}/{table}"
        with postgres.open(own) as index:
            refused("permission denied .* to search takes SELECT", lambda: index.search(CODES))
        postgres.sql(f"GRANT SELECT ON {table} TO {postgres.prefix}_reader")
        with postgres.open(own) as index:
            assert index.search(CODES, k=1)[1].ids == [2]
            refused("permission denied .* to write INSERT and DELETE too", lambda: index.add([4], CODES[:1]))
            refused("permission denied", lambda: index.remove([1]))
        postgres.sql(f"GRANT INSERT, DELETE ON {table} TO {postgres.prefix}_reader")
        with postgres.open(own) as index:
            index.add([3, 4], CODES[:2])
            index.remove([1])
            assert sorted(index.within(CODES[0], 64)[0].ids) == [2, 3, 4]

    def test_a_user_who_may_not_make_a_table(self, postgres, reader):
        with postgres.open(postgres.address(), bits=64):
            pass  # pgvector is there
        message = refused(
            "permission denied for schema .* to make an index CREATE on its schema",
            lambda: postgres.open(f"{reader}/shop", bits=64),
        )
        assert "secret" not in message

    def test_a_server_that_takes_no_writes(self, postgres):
        address = postgres.address()
        with postgres.open(address, bits=64) as index:
            index.add([1, 2, 3], CODES)
        standby = f"{address}?options=-c%20default_transaction_read_only%3Don"
        with postgres.open(standby) as index:
            refused(
                "is read-only; write to the primary, or open with read_only=True", lambda: index.remove([1])
            )
            assert index.count == 3


class TestPgvector:
    @pytest.fixture
    def empty(self, postgres, reader):
        """A database without pgvector that belongs to the reader."""
        name = f"{postgres.prefix}_empty"
        postgres.sql(f"CREATE DATABASE {name} OWNER {postgres.prefix}_reader TEMPLATE template0")
        yield name
        postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def test_it_is_added_by_who_may(self, postgres, reader, empty):
        own, administrators = (
            f"{reader.rpartition('/')[0]}/{empty}/shop",
            postgres.database.rpartition("/")[0],
        )
        refused(
            "does not have pgvector, and the user .*_reader' may not add it; ask an administrator to run "
            "CREATE EXTENSION vector",
            lambda: postgres.open(own, bits=64),
        )
        with ThreadPoolExecutor(2) as threads:  # one of them comes first
            for index in threads.map(
                lambda name: postgres.open(f"{administrators}/{empty}/{name}", bits=64), ["shop", "other"]
            ):
                index.add([1, 2, 3], CODES)
                assert index.search(CODES, k=1)[1].ids == [2]
                index.close()

    def test_it_is_gone(self, postgres, empty):
        address = f"{postgres.database.rpartition('/')[0]}/{empty}/shop"
        with postgres.open(address, bits=64) as index:
            index.add([1, 2, 3], CODES)
        with psycopg.connect(address.rpartition("/")[0], autocommit=True) as other:
            other.execute("DROP EXTENSION vector")
        refused(
            "does not have pgvector; run CREATE EXTENSION vector",
            lambda: postgres.open(address, read_only=True),
        )

    def test_a_server_that_has_none(self, postgres, empty, monkeypatch):
        monkeypatch.setattr(database, "EXTENSION", "no_such_extension")
        address = f"{postgres.database.rpartition('/')[0]}/{empty}/shop"
        refused(
            "the server of .* does not have pgvector; install it", lambda: postgres.open(address, bits=64)
        )

    @pytest.mark.parametrize(
        ("needed", "options", "message"),
        [
            (
                "OLDEST",
                {},
                "has pgvector .*, and pts3h needs 99.1 or newer; install it, then run ALTER EXTENSION",
            ),
            ("OLDEST_FOR_GRAPHS", {"ef_search": 40}, "and HNSW here needs 99.1 or newer"),
        ],
    )
    def test_one_that_is_too_old(self, postgres, monkeypatch, needed, options, message):
        monkeypatch.setattr(database, needed, (99, 1))
        refused(message, lambda: postgres.open(postgres.address(), bits=64, **options))

    def test_a_database_of_another_encoding(self, postgres, empty):
        name = f"{postgres.prefix}_latin"
        postgres.sql(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            refused(
                "has the encoding LATIN1; pts3h needs one with ENCODING 'UTF8'",
                lambda: postgres.open(f"{postgres.database.rpartition('/')[0]}/{name}/shop", bits=64),
            )
        finally:
            postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")
