"""A Milvus server that is down, slow, strange or somebody else's: each case ends in one clear line."""

import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import grpc
import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.milvus import connection as milvus_connection
from pts3h.index.milvus import index as engine
from pts3h.index.milvus.connection import Address

from ..guard import free_port
from ..proxy import Proxy

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


def refused(message, action):
    with pytest.raises(UserError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "milvus:///shop",
        "milvus://host",
        "milvus://host/",
        "milvus://host/a-b",
        "milvus://host/1a",
        "milvus://host/a/b",
        "milvus://host/ä",
        "milvus://host:x/shop",
        "milvus://host:99999/shop",
        "milvus://host/shop?x=1",
        "milvus://host/" + "a" * 201,
        'milvus://host/a"b',
        "milvus://[::1/shop",
    ],
)
def test_addresses_that_are_not_valid(address):
    refused("milvus://host:port/collection", lambda: open_index(address, 64))


def test_addresses():
    assert Address.parse("milvus://host/shop") == Address("host", 19530, "shop")
    assert Address.parse("milvus://10.0.0.1:4/shop_2").server == "10.0.0.1:4"
    assert Address.parse("milvus://[::1]:4/shop").server == "[::1]:4"
    message = refused("MILVUS_TOKEN", lambda: open_index("milvus://root:secret@host/shop", 64))
    assert "secret" not in message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"timeout": 0}, "timeout must be"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"timeout": True}, "timeout must be"),
        ({"retries": -1}, "retries must be"),
        ({"consistency": "weak"}, "consistency must be one of strong, session, bounded, eventually"),
        ({"index_type": "HNSW"}, "index_type must be one of BIN_FLAT, BIN_IVF_FLAT"),
        ({"nlist": 0}, "nlist must be"),
        ({"nprobe": 0}, "nprobe must be"),
        ({"window": 1 << 20}, "window must be"),
        ({"ca_file": "nowhere.pem"}, "no certificate file nowhere.pem"),
    ],
)
def test_options_that_make_no_sense(option, message):
    refused(message, lambda: open_index("milvus://127.0.0.1:1/shop", 64, **option))


def test_without_pymilvus_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    refused(r"pip install 'pts3h\[milvus\]'", lambda: open_index("milvus://127.0.0.1:1/shop", 64))


def test_no_server_there(monkeypatch):
    pauses = []
    monkeypatch.setattr(milvus_connection.time, "sleep", pauses.append)
    address = f"127.0.0.1:{free_port()}"
    refused(
        rf"cannot reach a Milvus server at {address} \(attempts: 5\)",
        lambda: open_index(f"milvus://{address}/shop", 64),
    )
    assert pauses == [0.2, 0.4, 0.8, 1.6]  # it gives up
    refused(r"\(attempts: 1\)", lambda: open_index(f"milvus://{address}/shop", 64, retries=0))


def test_something_that_accepts_and_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"milvus://127.0.0.1:{silent.getsockname()[1]}/shop"
        refused("did not answer within 1 s", lambda: open_index(address, 64, timeout=1))


def test_another_grpc_server():
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        refused(
            "is not a Milvus server, or is older than 2.3",
            lambda: open_index(f"milvus://127.0.0.1:{port}/shop", 64),
        )
    finally:
        server.stop(None).wait()


def test_a_server_too_old(monkeypatch):
    class OldClient:
        def __init__(self, **_):
            pass

        def get_server_version(self, timeout):
            return "v2.2.16"

        def close(self):
            pass

    monkeypatch.setattr(milvus_connection, "_pymilvus", lambda: SimpleNamespace(MilvusClient=OldClient))
    refused(
        "is Milvus v2.2.16; pts3h needs 2.3 or newer", lambda: open_index("milvus://127.0.0.1:1/shop", 64)
    )


@pytest.mark.milvus
class TestWithServer:
    @pytest.fixture
    def proxy(self, milvus):
        with Proxy(milvus.server) as proxy:
            yield proxy

    @pytest.fixture
    def proxied(self, milvus, proxy):
        address = milvus.address().replace(milvus.server, proxy.address)
        with milvus.open(address, bits=64, timeout=2) as index:
            index.add([1, 2, 3], CODES)
            yield index

    def test_wrong_token(self, milvus):
        if not milvus.token:
            pytest.skip("this server asks for none")
        for token in ("root:wrong", "nobody", ""):
            refused(
                "refused the token; set MILVUS_TOKEN",
                lambda token=token: milvus.open(milvus.address(), bits=64, token=token),
            )

    def test_token_from_the_environment(self, milvus, monkeypatch):
        monkeypatch.setenv("MILVUS_TOKEN", milvus.token)
        with open_index(milvus.address(), 64) as index:
            assert index.count == 0

    def test_a_server_that_stalls(self, proxy, proxied):
        proxy.stall()
        refused("did not answer within 2 s", lambda: proxied.search(CODES))
        refused("did not answer within 2 s", lambda: proxied.add([4], CODES[:1]))
        proxy.flow()
        assert proxied.search(CODES, k=1)[2].ids == [3]

    def test_a_server_that_stalls_at_the_door(self, milvus, proxy):
        proxy.stall()
        address = milvus.address().replace(milvus.server, proxy.address)
        refused("did not answer within 1 s", lambda: milvus.open(address, bits=64, timeout=1))

    def test_first_connections_dropped(self, milvus):
        with Proxy(milvus.server, drop=2) as proxy:
            address = milvus.address().replace(milvus.server, proxy.address)
            with milvus.open(address, bits=64) as index:
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
        refused("cannot reach a Milvus server", lambda: proxied.count)

    def test_connection_lost_under_many_threads(self, proxy, proxied):
        def search(_):
            return [hits.ids for hits in proxied.search(CODES, k=1)]

        for _ in range(6):  # a channel closed under another thread's call crashes gRPC, but not every time
            with ThreadPoolExecutor(8) as threads:
                answers = threads.map(search, range(100))
                for _ in range(3):
                    proxy.hang_up()
                    time.sleep(0.01)
                assert all(answer == [[1], [2], [3]] for answer in answers)

    def test_a_long_add_that_breaks_off_says_how_far_it_came(self, proxy, proxied, monkeypatch):
        monkeypatch.setattr(engine, "ROWS_PER_REQUEST", 2)
        upsert, seen = proxied._collection.upsert, []

        def upsert_then_stall(rows):
            upsert(rows)
            seen.append(rows)
            if len(seen) == 2:
                proxy.stall()

        monkeypatch.setattr(proxied._collection, "upsert", upsert_then_stall)
        message = refused("did not answer", lambda: proxied.add(range(10, 17), np.resize(CODES, (7, 8))))
        assert "4 of 7 items are stored" in message
        proxy.flow()
        monkeypatch.undo()
        proxied.add(range(10, 17), np.resize(CODES, (7, 8)))
        assert proxied.count == 10

    def test_tls(self, milvus, tmp_path, monkeypatch):
        if not shutil.which("openssl"):
            pytest.skip("needs openssl to make a certificate")
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-keyout",
                key,
                "-out",
                certificate,
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
            ],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        with Proxy(milvus.server, tls=context) as proxy:
            address = milvus.address().replace(milvus.server, proxy.address.replace("127.0.0.1", "localhost"))
            with milvus.open(address, bits=64, ca_file=certificate) as index:
                index.add([1, 2, 3], CODES)
                assert index.search(CODES, k=1)[1].ids == [2]
            monkeypatch.setenv("MILVUS_CA_FILE", str(certificate))
            with milvus.open(address) as index:
                assert index.count == 3
            monkeypatch.delenv("MILVUS_CA_FILE")
            refused("cannot reach", lambda: milvus.open(address, tls=True, retries=0))  # not trusted
            refused("cannot reach", lambda: milvus.open(address, tls=False, retries=0))

    def test_no_collection_yet(self, milvus):
        refused("give bits= to create it", lambda: milvus.open(milvus.address()))
        refused(
            "no index at .* yet; it was opened read-only",
            lambda: milvus.open(milvus.address(), bits=64, read_only=True),
        )

    def test_read_only(self, milvus):
        address = milvus.address()
        with milvus.open(address, bits=64) as index:
            index.add([1, 2, 3], CODES)
        with milvus.open(address, read_only=True) as index:
            assert index.search(CODES, k=1)[1].ids == [2]
            refused("read-only", lambda: index.add([4], CODES[:1]))
            refused("read-only", lambda: index.remove([1]))
            assert index.count == 3

    def test_wrong_bits_and_wrong_model(self, milvus):
        address = milvus.address()
        for step in range(2):  # before the first item and after
            with milvus.open(address, bits=64, model="one") as index:
                refused("holds codes of 64 bits, not 12", lambda: milvus.open(address, bits=12))
                refused("another model", lambda: milvus.open(address, model="two"))
                with milvus.open(address) as other:
                    assert (other.bits, other.model) == (64, "one")
                if step == 0:
                    index.add([1, 2, 3], CODES)

    def test_collection_of_another_program(self, milvus):
        from pymilvus import MilvusClient

        address = milvus.address()
        client = MilvusClient(f"http://{milvus.server}", token=milvus.token, dedicated=True)
        client.create_collection(address.rpartition("/")[2], dimension=8, timeout=30)
        client.close()
        refused("holds something else; choose another name", lambda: milvus.open(address, bits=64))

    def test_collection_dropped_meanwhile(self, milvus):
        with milvus.open(milvus.address(), bits=64) as index:
            index.add([1, 2, 3], CODES)
            milvus.clean()
            refused("reports: .*not found", lambda: index.search(CODES))

    def test_metadata_too_large_is_refused_before_anything_is_stored(self, milvus):
        with milvus.open(milvus.address(), bits=64) as index:
            meta = [{}, {"text": "x" * 70_000}, {}]
            refused(
                "at most 65,536 bytes as JSON; that of 'b' has 70,0",
                lambda: index.add(["a", "b", "c"], CODES, meta=meta),
            )
            assert index.count == 0

    def test_a_race_for_the_first_items_has_one_winner(self, milvus):
        address = milvus.address()
        with milvus.open(address, bits=64) as one, milvus.open(address, bits=64) as other:
            start = threading.Barrier(2)

            def add(index, ids):
                start.wait()
                try:
                    index.add(ids, CODES)
                except UserError as error:
                    assert "this index has ids that are" in str(error)
                    return []
                return ids

            with ThreadPoolExecutor(2) as threads:
                added = list(threads.map(add, [one, other], [["a", "b", "c"], [1, 2, 3]]))
            (winner,) = [ids for ids in added if ids]
            for index in (one, other):
                assert sorted(index.within(CODES[0], 64)[0].ids) == winner

    def test_first_items_from_two_sides(self, milvus):
        address = milvus.address()
        with milvus.open(address, bits=64) as one, milvus.open(address, bits=64) as other:
            assert other.count == 0
            one.add(["a"], CODES[:1])
            assert other.count == 1
            refused("ids that are text", lambda: other.add([1], CODES[:1]))
        with milvus.open(address) as one:
            one.remove(["a"])
            refused("ids that are text", lambda: one.add([1], CODES[:1]))
