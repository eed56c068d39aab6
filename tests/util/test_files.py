"""Files are written whole or not at all, and the disk's complaints are put plainly."""

import errno
import json
import os
import stat
from unittest.mock import Mock

import numpy as np
import pytest

from pts3h import UserError
from pts3h.util.files import (
    cache_folder,
    explain_os_errors,
    write_array,
    write_atomic,
    write_first,
    write_json,
    write_text,
    write_together,
)


def test_written_and_replaced(tmp_path):
    path = tmp_path / "deep" / "er" / "file.txt"
    write_text(path, "first, grün")
    write_text(str(path), "second")
    assert path.read_text(encoding="utf-8") == "second"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    "error", [RuntimeError("broke"), KeyboardInterrupt(), OSError(errno.EBADMSG, "bad disk")]
)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def write(file):
        file.write(b"half")
        raise error

    with pytest.raises(type(error)):
        write_atomic(path, write)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_goes_when_it_is_old(tmp_path):
    """And nothing else does, whatever the file is called."""
    old, new = ".a[1]*.0123456789abcdef", ".a[1]*.fedcba9876543210"
    others = [".a1.0123456789abcdef", ".a[1]*.npy", ".bashrc.backup", ".a[1]*.0123456789abcdef.txt"]
    for name in (old, new, *others):
        (tmp_path / name).touch()
        if name != new:
            os.utime(tmp_path / name, (0, 0))
    write_text(tmp_path / "a[1]*", "x")
    assert {path.name for path in tmp_path.iterdir()} == {"a[1]*", new, *others}


def test_files_that_belong_together(tmp_path):
    first, second = tmp_path / "codes", tmp_path / "ids"

    def write(text):
        return lambda file: file.write(text)

    write_together({first: write(b"old"), second: write(b"old")})
    with pytest.raises(TypeError):
        write_together({first: write(b"new"), second: write("no bytes")})
    assert (first.read_bytes(), second.read_bytes()) == (b"old", b"old")
    write_together({first: write(b"new"), second: write(b"new")})
    assert (first.read_bytes(), second.read_bytes()) == (b"new", b"new") and len(
        list(tmp_path.iterdir())
    ) == 2


def test_colleagues_may_read_it(tmp_path):
    before = os.umask(0o022)
    try:
        write_text(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


def test_the_umask_of_the_process_is_left_alone(tmp_path, monkeypatch):
    """Another thread may be making a file at that moment."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    write_text(tmp_path / "file", "x")


def test_json_is_readable_and_strict(tmp_path):
    write_json(tmp_path / "a.json", {"name": "grün", "values": [1, 2.5, None]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"name": "grün", "values": [1, 2.5, None]}
    assert "grün" in (tmp_path / "a.json").read_text()
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert "grün" in (tmp_path / "a.json").read_text()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission"),
        (errno.EIO, "that disk fails"),
    ],
)
def test_what_the_disk_says_in_plain_words(tmp_path, number, words):
    with pytest.raises(UserError, match=words) as caught, explain_os_errors(tmp_path / "out"):
        raise OSError(number, os.strerror(number))
    assert str(tmp_path / "out") in str(caught.value)


def test_a_name_that_no_file_has(tmp_path):
    with pytest.raises(UserError, match=r"cannot write .*a\\x00b': no name of a file holds a NUL"):
        write_text(tmp_path / "a\0b", "x")


def test_other_errors_pass(tmp_path):
    with pytest.raises(FileNotFoundError), explain_os_errors(tmp_path):
        (tmp_path / "nothing").read_text()


def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path, monkeypatch):
    write_text(tmp_path / "codes.npy", "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"codes\.npy: the disk is full"):
        write_atomic(tmp_path / "codes.npy", lambda file: np.save(file, np.ones(5)))
    assert (tmp_path / "codes.npy").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3).T, np.zeros((0, 4), np.uint8), np.array(3)])
def test_arrays(tmp_path, array):
    write_array(tmp_path / "a.npy", array)
    loaded = np.load(tmp_path / "a.npy", allow_pickle=False)
    np.testing.assert_array_equal(loaded, array)
    assert loaded.dtype == array.dtype


def test_an_array_too_large_for_the_disk(small_disk):
    with pytest.raises(UserError, match=r"a\.npy: the disk is full"):
        write_array(small_disk / "a.npy", np.zeros(100_000))
    assert not list(small_disk.iterdir())


def test_a_path_through_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="a file, not a folder"):
        write_text(tmp_path / "file" / "sub" / "x", "text")


class TestCacheFolder:
    def test_our_variable_first(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "ours"))
        assert cache_folder("a", "b") == tmp_path / "ours" / "a" / "b"
        assert (tmp_path / "ours" / "a" / "b").is_dir()

    def test_then_the_systems(self, tmp_path, monkeypatch):
        monkeypatch.delenv("PTS3H_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache_folder("a") == tmp_path / "xdg" / "pts3h" / "a"

    def test_then_home(self, tmp_path, monkeypatch):
        monkeypatch.delenv("PTS3H_CACHE")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_folder("a") == tmp_path / ".cache" / "pts3h" / "a"


class TestWriteFirst:
    @pytest.mark.parametrize("links", [True, False])
    def test_a_new_file(self, tmp_path, monkeypatch, links):
        if not links:
            monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
        write_first(tmp_path / "a", lambda file: file.write(b"new"))
        assert (tmp_path / "a").read_bytes() == b"new"
        assert [path.name for path in tmp_path.iterdir()] == ["a"]

    def test_somebody_was_quicker(self, tmp_path):
        def write(file):
            (tmp_path / "a").write_bytes(b"theirs")
            file.write(b"ours")

        write_first(tmp_path / "a", write)
        assert (tmp_path / "a").read_bytes() == b"theirs"
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
