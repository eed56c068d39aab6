"""A server that is down, slow or strange: each case ends in one clear line, and nothing is half done."""

import shutil
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest

from pts3h.index import open_index
from pts3h.index.postgres import connection as client
from pts3h.index.postgres.items import Items

from ..proxy import Proxy
from .checks import CODES, name_of, refused
from .server import PASSWORD

pytestmark = pytest.mark.postgres


@pytest.fixture
def proxy(postgres):
    with Proxy(postgres.server) as proxy:
        yield proxy


@pytest.fixture
def through(postgres, proxy):
    """A new address, by way of the proxy."""
    return postgres.address().replace(postgres.server, proxy.address)


@pytest.fixture
def proxied(postgres, through):
    """An index that is answered in the end, however busy the machine is."""
    with postgres.open(through, bits=64, timeout=60) as index:
        index.add([1, 2, 3], CODES)
        yield index


@pytest.fixture
def hasty(postgres, through):
    """An index that soon gives up."""
    with postgres.open(through, bits=64, timeout=3) as index:
        index.add([1, 2, 3], CODES)
        yield index


class TestConnections:
    def test_wrong_password_user_and_database(self, postgres, monkeypatch):
        monkeypatch.setattr(client.time, "sleep", None)  # it is not tried again
        message = refused(
            "refused the connection: .*; check user, password and database",
            lambda: postgres.open(postgres.address(), bits=64, password="wrong secret"),
        )
        assert "secret" not in message and PASSWORD not in message
        for user, reason in [
            ("nobody:x", "refused the connection"),
            ("nobody", "asks for a password; set PG"),
        ]:
            address = f"postgresql://{user}@{postgres.server}/postgres/shop"
            refused(reason, lambda address=address: postgres.open(address, bits=64))
        elsewhere = f"{postgres.database.rpartition('/')[0]}/no_such_database/shop"
        refused('database "no_such_database" does not exist', lambda: postgres.open(elsewhere, bits=64))

    def test_password_from_elsewhere(self, postgres, monkeypatch):
        parameters = psycopg.conninfo.conninfo_to_dict(postgres.database)
        if not parameters.get("password"):
            pytest.skip("this server asks for none")
        name = name_of(postgres.address())
        bare = f"postgresql://{parameters['user']}@{postgres.server}/{parameters['dbname']}/{name}"
        with open_index(bare, 64, password=parameters["password"]) as index:
            assert index.count == 0
        monkeypatch.setenv("PGPASSWORD", parameters["password"])
        with open_index(bare) as index:
            assert index.count == 0

    def test_by_way_of_a_socket(self, postgres):
        ((folder,),) = postgres.sql("SHOW unix_socket_directories")
        host, port = postgres.server.split(":")
        if not Path(folder, f".s.PGSQL.{port}").exists():
            pytest.skip("the server is on another machine, or has no socket")
        address = postgres.address().replace(f"@{postgres.server}/", "@/")
        with postgres.open(f"{address}?host={folder}&port={port}", bits=64) as index:
            index.add([1, 2, 3], CODES)
        with postgres.open(address.replace("@/", f"@{host}:{port}/")) as index:
            assert index.count == 3

    def test_both_schemes(self, postgres):
        address = postgres.address()
        with open_index(address, 64) as index:
            index.add([1, 2, 3], CODES)
        with open_index(address.replace("postgresql://", "postgres://")) as index:
            assert index.count == 3

    def test_a_server_that_stalls(self, proxy, hasty):
        proxy.stall()
        refused("did not answer within 3 s", lambda: hasty.search(CODES))
        refused("did not answer within 3 s", lambda: hasty.add([4], CODES[:1]))
        refused("did not answer within 3 s", lambda: list(hasty.scan()))
        proxy.flow()
        assert hasty.search(CODES, k=1)[2].ids == [3]
        assert hasty.count == 3

    def test_a_server_that_stalls_during_a_scan(self, proxy, hasty):
        scan = hasty.scan(1)
        next(scan)
        proxy.stall()
        refused("did not answer within 3 s", lambda: next(scan))
        proxy.flow()

    def test_a_query_that_takes_too_long(self, postgres, hasty):
        with psycopg.connect(postgres.database) as other:  # holds up even readers
            other.execute(f"LOCK TABLE {hasty._table.shown.rpartition('/')[2]}")
            refused(
                "another program has been holding this table .* for 3 s; .* give a larger timeout=",
                lambda: hasty.search(CODES),
            )
        assert hasty.count == 3

    def test_first_connections_dropped(self, postgres):
        with Proxy(postgres.server, drop=2) as proxy:
            address = postgres.address().replace(postgres.server, proxy.address)
            with postgres.open(address, bits=64) as index:
                assert index.count == 0
            assert proxy.dropped == 2

    def test_connection_lost_between_calls(self, proxy, proxied):
        for drop in (0, 2):
            proxy.drop = drop
            proxy.hang_up()
            assert proxied.search(CODES, k=1)[2].ids == [3]
            proxy.hang_up()
            proxied.add([9], CODES[:1])
            assert proxied.count == 4
            proxied.remove([9])
        proxy.close()
        refused("cannot reach a Postgres server", lambda: proxied.count)

    def test_connections_ended_by_the_administrator(self, postgres, proxied):
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pts3h'"
        for _ in range(3):
            assert postgres.sql(end)
            assert proxied.search(CODES, k=1)[1].ids == [2]

    def test_connection_lost_under_many_threads(self, proxy, proxied):
        def search(_):
            return [hits.ids for hits in proxied.search(CODES, k=1)]

        for _ in range(3):
            with ThreadPoolExecutor(12) as threads:
                answers = threads.map(search, range(100))
                for _ in range(3):
                    proxy.hang_up()
                    time.sleep(0.01)
                assert all(answer == [[1], [2], [3]] for answer in answers)

    def test_not_more_connections_than_a_few(self, postgres):
        own = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pts3h'"
        with postgres.open(postgres.address(), bits=64) as index:
            index.add([1, 2, 3], CODES)
            with ThreadPoolExecutor(30) as threads:
                for _ in threads.map(lambda _: index.search(CODES), range(200)):
                    pass
            assert 1 <= postgres.sql(own)[0][0] <= client.MOST

    def test_tls(self, postgres, tmp_path):
        if not shutil.which("openssl"):
            pytest.skip("needs openssl to make a certificate")
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        made = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ]
        more = ["-keyout", key, "-out", certificate, "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run([*made, *more], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["postgresql"])
        with Proxy(postgres.server, tls=context) as proxy:
            host = proxy.address.replace("127.0.0.1", "localhost")
            address = postgres.address().replace(postgres.server, host) + "?sslnegotiation=direct&sslmode="
            trusted = f"{address}verify-full&sslrootcert={certificate}"
            with postgres.open(trusted, bits=64) as index:
                index.add([1, 2, 3], CODES)
                assert index.search(CODES, k=1)[1].ids == [2]
            message = refused(
                "cannot reach .*certificate", lambda: postgres.open(f"{address}verify-full", retries=0)
            )
            assert PASSWORD not in message


class TestWrites:
    def test_an_add_that_breaks_off_leaves_nothing(self, proxy, hasty, monkeypatch):
        monkeypatch.setattr("pts3h.index.postgres.items.ROWS_PER_REQUEST", 2)
        remove, seen = Items.remove, []

        def remove_then_stall(self, connection, ids):
            remove(self, connection, ids)
            seen.append(ids)
            if len(seen) == 3:
                proxy.stall()

        monkeypatch.setattr(Items, "remove", remove_then_stall)
        message = refused("did not answer", lambda: hasty.add(range(10, 17), np.resize(CODES, (7, 8))))
        assert "nobody knows" not in message
        proxy.flow()
        monkeypatch.undo()
        assert hasty.count == 3
        hasty.add(range(10, 17), np.resize(CODES, (7, 8)))
        assert hasty.count == 10

    def test_an_add_whose_end_is_lost_is_made_again(self, proxy, proxied, monkeypatch):
        put, lost = Items.put, []

        def put_then_lose(self, connection, *what):
            put(self, connection, *what)
            if not lost:
                lost.append(proxy.hang_up())

        monkeypatch.setattr(Items, "put", put_then_lose)
        proxied.add([4, 5, 6], CODES)
        assert lost and proxied.count == 6

    def test_an_add_whose_end_stays_unknown_says_so(self, proxy, proxied, monkeypatch):
        put = Items.put

        def put_then_stall(self, connection, *what):
            put(self, connection, *what)
            proxy.stall()

        monkeypatch.setattr(Items, "put", put_then_stall)
        refused(
            "nobody knows whether the change was stored; make it again", lambda: proxied.add([4], CODES[:1])
        )
        proxy.flow()

    def test_a_fault_in_the_middle_leaves_nothing(self, postgres):
        address = postgres.address()
        with postgres.open(address, bits=64) as index:
            postgres.sql(
                f"ALTER TABLE {name_of(address)} ADD COLUMN id bigint PRIMARY KEY CHECK (id <> 8000)"
            )
            postgres.sql(
                f"ALTER TABLE {name_of(address)} ADD meaning bit(64) NOT NULL, ADD meta jsonb NOT NULL"
            )
            index.add([1, 2, 3], CODES, meta=[{"n": 1}] * 3)
            message = refused(
                "reports: .*violates check", lambda: index.add(range(9000), np.zeros((9000, 8), "u1"))
            )
            assert "nobody knows" not in message
            assert index.count == 3
            assert [item.meta for item in index.get([1, 2, 3])] == [{"n": 1}] * 3

    def test_metadata_too_large_is_refused_before_anything_is_stored(self, postgres):
        with postgres.open(postgres.address(), bits=64) as index:
            meta = [{}, {"text": "x" * 70_000}, {}]
            refused(
                "at most 65,536 bytes as JSON; that of 'b' has 70,0",
                lambda: index.add(["a", "b", "c"], CODES, meta=meta),
            )
            assert index.count == 0
            index.add(
                [1, 2, 3], CODES, meta=[{"text": "é" * 32_000}] * 3
            )  # it did not settle the kind of ids
            assert index.get([3])[0].meta == {"text": "é" * 32_000}

    def test_a_writer_that_does_not_end(self, postgres):
        address = postgres.address()
        with postgres.open(address, bits=64, timeout=1) as index:
            index.add([1, 2, 3], CODES)
            with psycopg.connect(postgres.database) as other:
                other.execute(f"DELETE FROM {name_of(address)}")
                refused("another program has been holding", lambda: index.add([4], CODES[:1]))
                assert index.count == 3  # readers wait for nobody
