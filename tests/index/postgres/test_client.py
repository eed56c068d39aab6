"""The client beside the server: addresses, options, secrets, and servers that are none."""

import socket
import sys
import threading
import warnings

import pytest

from pts3h.errors import UnencryptedWarning
from pts3h.index import open_index
from pts3h.index.patience import Patience
from pts3h.index.postgres import connection as client
from pts3h.index.postgres.address import Address
from pts3h.index.postgres.connection import Connections

from ..guard import free_port
from .checks import refused

NOWHERE = "postgresql://127.0.0.1:1/data/shop"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://host",
        "postgresql://host/",
        "postgresql://host/data",
        "postgresql://host/data/",
        "postgresql://host//shop",
        "postgresql://host/data/a/b",
        "postgresql://host:x/data/shop",
        "postgresql://host:0/data/shop",
        "postgresql://host:99999/data/shop",
        "postgresql://host:\u0661/data/shop",
        "postgresql://[::1/data/shop",
        "postgresql://host/data%zz/shop",
        "postgresql://host/data/shop?colour=red",
        "postgresql://host/data/shop#1",
        "postgres:/host/data/shop",
    ],
)
def test_addresses_that_are_not_valid(address):
    refused(
        "postgresql://user:password@host:port/database/table",
        lambda: open_index(address, 64, engine="postgres"),
    )


@pytest.mark.parametrize(
    "name", ["a-b", "1a", "ä", "Shop", "a.b.c", ".a", "a.", 'a"b', "a b", "a" * 64, "a'; DROP TABLE x; --"]
)
def test_names_of_tables_are_checked(name):
    refused(
        "the name of a table is up to 63 lower-case", lambda: open_index(f"postgresql://h/data/{name}", 64)
    )


def test_addresses():
    found = Address.parse("postgresql://host/data/shop")
    assert found == Address(("shop",), "host:5432", {"host": "host", "dbname": "data"})
    assert Address.parse("postgres://10.0.0.1:4/data/own.shop_2").table == ("own", "shop_2")
    assert Address.parse("postgresql://[::1]:4/data/shop").server == "[::1]:4"
    assert Address.parse("postgresql:///data/shop?host=/run/x").server == "/run/x:5432"
    found = Address.parse("postgresql://me:a%2Fb%40c@host/data/shop?sslmode=require")
    expected = {"user": "me", "password": "a/b@c", "host": "host", "dbname": "data", "sslmode": "require"}
    assert found.parameters == expected
    assert "a/b@c" not in repr(found)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://root:secret@host",
        "postgresql://root:secret@host/data",
        "postgresql://root:secret@host:x/data/shop",
        "postgresql://root:secret@host:99999/data/shop",
        "postgresql://root:secret@[::1/data/shop",
        "postgresql://root:secret@host/data/a-b",
        "postgresql://root:secret@host/data/shop?colour=red",
        "postgresql://root:secret%zz@host/data/shop",
        "postgresql://root:secret/more@host/data/shop",
        "postgresql://root:7/secret@host/shop",
        "postgresql://root:se#secret@host/data/shop",
        "postgresql://root:se?secret@host/data/shop",
        "postgresql://root:secret%2F@127.0.0.1:1/data/shop",
        "postgresql://127.0.0.1:1/data/shop?user=root&password=secret",
        "postgresql://host/data/shop#secret",
        "Postgresql://root:secret@host/data/shop",
        "http://root:secret@host/data/shop",
    ],
)
@pytest.mark.parametrize("engine", [None, "local", "postgres"])
def test_a_password_in_an_address_is_never_shown(address, engine):
    options = {"retries": 0} if engine == "postgres" or (engine is None and address[0] == "p") else {}
    message = refused(".", lambda: open_index(address, 64, engine=engine, **options))
    assert "secret" not in message and "root" not in message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"timeout": 0}, "timeout must be"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"timeout": True}, "timeout must be"),
        ({"retries": -1}, "retries must be"),
        ({"ef_search": 0}, "ef_search must be a whole number from 1 to 1000, got 0"),
        ({"ef_search": 1001}, "ef_search must be"),
        ({"ef_search": True}, "ef_search must be"),
        ({"token": "x"}, "no option 'token'; it has password, timeout, retries, ef_search"),
    ],
)
def test_options_that_make_no_sense(option, message):
    refused(message, lambda: open_index(NOWHERE, 64, **option))


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    refused(r"pip install 'pts3h\[postgres\]'", lambda: open_index(NOWHERE, 64))


def test_no_server_there(monkeypatch):
    pauses = []
    monkeypatch.setattr(client.time, "sleep", pauses.append)
    address = f"127.0.0.1:{free_port()}"
    refused(
        rf"cannot reach a Postgres server at {address} \(attempts: 5\): .*refused.*is it running",
        lambda: open_index(f"postgresql://{address}/data/shop", 64),
    )
    assert pauses == [0.2, 0.4, 0.8, 1.6]  # it gives up
    refused(r"\(attempts: 1\)", lambda: open_index(f"postgresql://{address}/data/shop", 64, retries=0))
    refused("cannot reach", lambda: open_index("postgresql://no.such.host.invalid/d/shop", 64, retries=0))


def test_something_that_accepts_and_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/data/shop"
        refused("did not answer within 1 s", lambda: open_index(address, 64, timeout=1))


def test_another_server():
    """It answers every caller in a way that no Postgres server does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            caller, _ = listener.accept()
            with caller:
                caller.recv(100)
                caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"postgresql://127.0.0.1:{listener.getsockname()[1]}/data/shop"
        refused("cannot reach a Postgres server", lambda: open_index(address, 64, retries=0))
        thread.join()


class Wire:
    """As much of a connection as the look at its safety needs."""

    def __init__(self, host, used_password=True, ssl_in_use=False):
        self.info = self.pgconn = self
        self.host, self.used_password, self.ssl_in_use = host, used_password, ssl_in_use


@pytest.mark.parametrize("host", ["10.0.0.1", "db.example.org", "2001:db8::1"])
def test_a_password_in_clear_is_warned_of_once(host):
    connections = Connections(NOWHERE, Patience(), "secret", {})
    with pytest.warns(UnencryptedWarning, match="not encrypted: add .sslmode=require") as caught:
        connections._warn_if_readable(Wire(host))
    assert "secret" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        connections._warn_if_readable(Wire(host))


@pytest.mark.parametrize(
    "wire",
    [
        Wire("10.0.0.1", ssl_in_use=True),
        Wire("10.0.0.1", used_password=False),
        Wire("127.0.0.1"),
        Wire("::1"),
        Wire("localhost"),
        Wire("/run/postgresql"),
    ],
)
def test_what_nobody_can_read_needs_no_warning(wire):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Connections(NOWHERE, Patience(), "secret", {})._warn_if_readable(wire)
