"""Downloads from a server on this machine, checked by digest."""

import hashlib
from contextlib import contextmanager

import pytest

from pts3h import UserError
from pts3h.data.datasets.download import download, has_digest
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
    path = download(address, digest=f"sha256:{SHA256}")
    assert path.read_bytes() == CONTENT and path.name == "data.bin"
    (tmp_path / "www" / "data.bin").unlink()
    assert download(address, digest=f"sha256:{SHA256}") == path


def test_md5_will_do(address):
    assert download(address, digest=f"md5:{hashlib.md5(CONTENT).hexdigest()}").read_bytes() == CONTENT


def test_other_content_is_refused_and_not_kept(address):
    with pytest.raises(UserError, match="cannot download") as caught:
        download(address, digest="sha256:" + "0" * 64)
    assert address in str(caught.value) and "\n" not in str(caught.value)
    assert download(address, digest=f"sha256:{SHA256}").read_bytes() == CONTENT


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/data.bin", "http://nowhere.invalid/data.bin"])
def test_no_server(address):
    with pytest.raises(UserError, match="cannot download") as caught:
        download(address, digest=f"sha256:{SHA256}")
    assert "\n" not in str(caught.value)


def test_no_such_file(address):
    with pytest.raises(UserError, match="404"):
        download(f"{address}.gz", digest=f"sha256:{SHA256}")


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
        download(f"{root}/large.bin", digest=f"sha256:{hashlib.sha256(content).hexdigest()}")
    assert counted == [("large.bin", 256, "KB"), 64, 64, 64, 64]


def test_has_digest(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    assert has_digest(tmp_path / "file", f"sha256:{SHA256}")
    assert not has_digest(tmp_path / "file", "md5:" + "0" * 32)
