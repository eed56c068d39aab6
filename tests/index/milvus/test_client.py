"""The client beside the server: secrets stay out of messages, nothing leaks, every search ends."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from pts3h.codes import Layout
from pts3h.errors import UnencryptedWarning, UserError
from pts3h.index import open_index
from pts3h.index.contract import check_held_layout, check_model, check_writable
from pts3h.index.milvus import connection as milvus_connection
from pts3h.index.milvus.connection import Connection


def refused(action):
    with pytest.raises(UserError) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "address",
    [
        "milvus://root:secret@host/shop",
        "milvus://root:secret@host:x/shop",
        "milvus://root:secret@host:99999/shop",
        "milvus://root:secret@[::1/shop",
        "milvus://root:secret@/shop",
        "milvus://root:secret@host/a-b",
        "milvus://root:secret/more@host/shop",
        "milvus://root:7secret/more@host/shop",
        "milvus://secret@host",
        "milvus://host/shop?token=secret",
        "milvus://host/shop#secret",
        "Milvus://root:secret@host/shop",
        "mil vus://root:secret@host/shop",
        "http://root:secret@host/shop",
        "redis://host/shop?password=secret",
    ],
)
@pytest.mark.parametrize("engine", [None, "local", "milvus"])
def test_a_password_in_an_address_is_never_shown(address, engine):
    message = refused(lambda: open_index(address, 64, engine=engine))
    assert "secret" not in message and "root" not in message


def test_no_message_about_an_index_shows_a_password():
    address = "own://root:secret@host/shop"
    for action in (
        lambda: check_model("a" * 64, "b" * 64, address),
        lambda: check_held_layout(Layout(12), Layout(16), address),
        lambda: check_held_layout(Layout(12, 4, 2), Layout(12, 4, 3), address),
        lambda: check_writable(True, address),
    ):
        message = refused(action)
        assert "own://...@host/shop" in message and "secret" not in message


class Client:
    """Stands in for pymilvus's client; it counts those that were made and those that are open."""

    made, open = 0, 0
    failure: Exception | None = None

    def __init__(self, **_):
        type(self).made += 1
        type(self).open += 1

    def get_server_version(self, timeout):
        if self.failure:
            raise self.failure
        return "v2.3.5"

    def has_collection(self, name, timeout):
        raise RuntimeError("user root with password se:cret may not; token root:se:cret")

    def close(self):
        type(self).open -= 1


@pytest.fixture
def client(monkeypatch):
    class Fresh(Client):
        pass

    monkeypatch.setattr(milvus_connection, "_pymilvus", lambda: SimpleNamespace(MilvusClient=Fresh))
    monkeypatch.setattr(milvus_connection.time, "sleep", lambda seconds: None)
    return Fresh


@pytest.mark.parametrize("failure", [RuntimeError("broken"), UserError("broken")])
def test_a_client_whose_server_does_not_answer_is_closed(client, failure):
    client.failure = failure
    for _ in range(3):
        assert "broken" in refused(lambda: open_index("milvus://127.0.0.1:1/shop", 64))
    assert client.made == 3 and client.open == 0


def test_what_the_server_says_is_shown_without_the_token(client):
    message = refused(lambda: open_index("milvus://127.0.0.1:1/shop", 64, token="root:se:cret"))
    assert "may not" in message and "cret" not in message
    assert client.open == 0


@pytest.mark.parametrize("host", ["10.0.0.1", "milvus.example.org", "[2001:db8::1]"])
def test_a_token_in_clear_is_warned_of(host, monkeypatch):
    with pytest.warns(UnencryptedWarning, match="unencrypted: give tls=True"):
        Connection(f"{host}:19530", token="root:secret")
    monkeypatch.setenv("MILVUS_TOKEN", "root:secret")
    with pytest.warns(UnencryptedWarning) as caught:
        Connection(f"{host}:19530")
    assert "secret" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("server", "options"),
    [
        ("10.0.0.1:19530", {"token": "root:secret", "tls": True}),
        ("10.0.0.1:19530", {"token": ""}),
        ("127.0.0.1:19530", {"token": "root:secret"}),
        ("127.3.4.5:19530", {"token": "root:secret"}),
        ("[::1]:19530", {"token": "root:secret"}),
        ("localhost:19530", {"token": "root:secret"}),
    ],
)
def test_what_nobody_can_read_needs_no_warning(server, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Connection(server, **options)


@pytest.mark.parametrize("window", [1, 0, -1])
def test_a_window_in_which_a_search_would_never_end_is_refused(window):
    message = refused(lambda: open_index("milvus://127.0.0.1:1/shop", 64, window=window))
    assert "window must be a whole number from 2 to 65536" in message


@pytest.mark.milvus
def test_the_smallest_window_ends(milvus):
    codes = np.zeros((9, 8), np.uint8)
    for ids in (list(range(9)), [f"i{n}" for n in range(9)]):
        with milvus.open(milvus.address(), bits=64, window=2) as index:
            index.add(ids, codes)
            assert index.search(codes[0], 5)[0].ids == ids[:5]
            assert index.within(codes[0], 0)[0].ids == ids
            assert sorted(one for some, _ in index.scan() for one in some) == ids
