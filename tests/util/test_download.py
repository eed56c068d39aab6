"""Downloads from a server on this machine, checked by digest."""

import gc
import hashlib
import socketserver
import threading
import weakref
from contextlib import contextmanager, suppress

import pytest

from pts3h import UserError
from pts3h.util.download import download, has_digest, within
from pts3h.util.files import cache_folder
from tests.pictures import serving

CONTENT = b"some bytes" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def address(tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "data.bin").write_bytes(CONTENT)
    with serving(tmp_path / "www") as root:
        yield f"{root}/data.bin"


def test_fetched_once(address, tmp_path):
    path = download(address, sha256=SHA256)
    assert path.read_bytes() == CONTENT and path.name == "data.bin"
    (tmp_path / "www" / "data.bin").unlink()
    assert download(address, sha256=SHA256) == path


def test_other_content_is_refused_and_not_kept(address):
    with pytest.raises(UserError, match="cannot download") as caught:
        download(address, sha256="0" * 64)
    assert address in str(caught.value) and "\n" not in str(caught.value)
    assert download(address, sha256=SHA256).read_bytes() == CONTENT


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/data.bin", "http://nowhere.invalid/data.bin"])
def test_no_server(address):
    with pytest.raises(UserError, match="cannot download") as caught:
        download(address, sha256=SHA256)
    assert "\n" not in str(caught.value)


def test_no_such_file(address):
    with pytest.raises(UserError, match="404"):
        download(f"{address}.gz", sha256=SHA256)


def left_alone():
    return [thread for thread in threading.enumerate() if thread.name == "download"]


def test_what_failed_holds_on_to_nothing():
    """A connection that waits for the collector of garbage may be closed in the wrong order."""

    class Connection:
        pass

    held = []

    def work():
        connection = Connection()
        held.append(weakref.ref(connection))
        raise OSError(f"{connection} is lost")

    gc.disable()
    try:
        with suppress(OSError):
            within(60, work)
        for thread in left_alone():
            thread.join()
        assert held[0]() is None
    finally:
        gc.enable()


@contextmanager
def dripping(beginning):
    """A server that sends a beginning and then a byte now and then, for ever."""
    stop = threading.Event()

    class Drip(socketserver.BaseRequestHandler):
        def handle(self):
            with suppress(OSError):
                self.request.sendall(beginning)
                while not stop.wait(0.02):
                    self.request.sendall(b"x")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/data.bin"
        stop.set()
        server.shutdown()
    for thread in left_alone():
        thread.join()  # it ends with the server


@pytest.mark.parametrize(
    "beginning",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Header: "],
    ids=["in the content", "in the header"],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_that_never_ends(beginning):
    """Each wait for a byte is short; all of them together have an end too."""
    with (
        dripping(beginning) as address,
        pytest.raises(UserError, match=r"\(it takes more than 1 s\)") as caught,
    ):
        download(address, sha256=SHA256, seconds=1)
    assert address in str(caught.value) and "\n" not in str(caught.value)
    assert not list(cache_folder("downloads").glob("data.bin"))
    del caught  # knows the frames that know the socket: it is to be closed here, not in some other test
    gc.collect()


def test_a_bar_shows_how_far_it_is(tmp_path, monkeypatch):
    counted = []

    @contextmanager
    def bar(description, total, *, unit):
        counted.append((description, total, unit))
        yield counted.append

    monkeypatch.setattr("pts3h.util.progress.bar", bar)
    content = bytes(1 << 18)
    (tmp_path / "large.bin").write_bytes(content)
    with serving(tmp_path) as root:
        download(f"{root}/large.bin", sha256=hashlib.sha256(content).hexdigest())
    assert counted == [("large.bin", 256, "KB"), 64, 64, 64, 64]


def test_has_digest(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    assert has_digest(tmp_path / "file", SHA256) and not has_digest(tmp_path / "file", "0" * 64)
