"""Digests of files: read once, and again whenever they may have changed."""

import hashlib
import os

import pytest

from pts3h.cache import known_files

LONG_AGO = 1_000_000_000 * 10**9


READ = []


def digest_of(path):
    READ.append(path.name)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""


def file_keys(paths, progress=None):
    return known_files.file_keys(paths, digest_of, progress)


@pytest.fixture
def read():
    """Names of the files that were read."""
    READ.clear()
    return READ


@pytest.fixture
def later(monkeypatch):
    """Files that were just written count as old."""
    monkeypatch.setattr(known_files, "MOMENT", 0)


@pytest.fixture
def paths(tmp_path):
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode() * 10)
    return sorted(tmp_path.iterdir())


def digests(paths):
    return [hashlib.sha256(path.read_bytes()).digest() if path.exists() else b"" for path in paths]


def test_a_known_file_is_not_read_again(paths, read, later):
    assert file_keys(paths) == digests(paths) and sorted(read) == ["a", "b", "c"]
    read.clear()
    assert file_keys(paths[::-1]) == digests(paths[::-1]) and read == []


def test_a_file_of_a_moment_ago_is_read_every_time(paths, read, monkeypatch):
    monkeypatch.setattr(known_files, "MOMENT", 60 * 10**9)  # however slow this machine is
    for _ in range(2):
        assert file_keys(paths) == digests(paths)
    assert sorted(read) == ["a", "a", "b", "b", "c", "c"]


def overwritten(path):
    path.write_bytes(b"other")


def same_size_and_time(path):
    """In place, with the old length and the old time of writing: only the entry of the file tells."""
    before = path.stat()
    path.write_bytes(b"z" * 10)
    while True:  # until the clock of the file system has moved on
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if path.stat().st_ctime_ns != before.st_ctime_ns:
            break
    assert (path.stat().st_ino, path.stat().st_size, path.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(b"y" * 10)
    other.replace(path)


@pytest.mark.parametrize("change", [overwritten, same_size_and_time, replaced])
def test_a_changed_file_is_read_again(paths, read, later, change):
    os.utime(paths[1], ns=(LONG_AGO, LONG_AGO))
    file_keys(paths)
    change(paths[1])
    read.clear()
    assert file_keys(paths) == digests(paths) and read == ["b"]


def test_what_cannot_be_read_has_no_digest_and_is_not_remembered(paths, read, later):
    missing = paths[0].with_name("none")
    assert file_keys([missing, *paths]) == [b"", *digests(paths)]
    missing.write_bytes(b"now")
    assert file_keys([missing]) == digests([missing])
    assert file_keys([missing.parent]) == [b""]


def test_a_full_disk_is_no_trouble(paths, later, small_disk, monkeypatch):
    monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
    (small_disk / "full").write_bytes(b"x")
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert file_keys(paths) == file_keys(paths) == digests(paths)


def test_many_bytes_have_a_bar(paths, monkeypatch, capsys):
    file_keys(paths, "lines")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(known_files, "SLOW", 29)
    file_keys(paths, "lines")
    assert capsys.readouterr().err.startswith("files: 3 of 3 files")
