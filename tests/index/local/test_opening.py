"""Opening and creating: disks that cannot share, folders that must last, leftovers, changes that wait."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.local import store
from pts3h.util import files

CODES = np.random.default_rng(0).integers(0, 256, (9_000, 8), np.uint8)


def test_a_disk_on_which_programs_cannot_share_is_refused(tmp_path, monkeypatch):
    """SQLite's lock by files stands in for a network disk: it has no memory that programs share."""

    def connect(address):
        return sqlite3.connect(f"{address}&vfs=unix-dotfile", uri=True, isolation_level=None)

    monkeypatch.setattr(store.Store, "_open", staticmethod(connect))
    with pytest.raises(
        UserError, match=r"cannot share memory between programs.*keep the index on a local disk"
    ):
        open_index(tmp_path / "index", 64)


def test_every_new_folder_is_made_to_last(tmp_path, monkeypatch):
    """A folder survives a power cut once the folder above it was synced."""
    synced = []
    sync_folder = files.sync_folder
    monkeypatch.setattr(files, "sync_folder", lambda folder: [synced.append(folder), sync_folder(folder)])
    monkeypatch.setattr(store, "sync_folder", files.sync_folder)
    folder = tmp_path / "a" / "b" / "index"
    open_index(folder, 64).close()
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b", folder} <= set(synced)


def test_what_a_killed_save_left_is_removed(tmp_path):
    with open_index(tmp_path / "index", 64) as index:
        index.add(range(9_000), CODES)
    left, fresh, other = (
        tmp_path / "index" / name
        for name in (".search.cache.0123456789abcdef", ".search.cache.fedcba9876543210", ".other")
    )
    for path in (left, fresh, other):
        path.write_bytes(b"half of it")
    for path in (left, other):
        os.utime(path, (0, 0))
    with open_index(tmp_path / "index") as index:
        index.add(range(9_000, 27_000), np.resize(CODES, (18_000, 8)))  # enough for another save
    assert not left.exists() and fresh.exists() and other.exists()  # someone may be writing the fresh one


def test_changes_that_wait_where_nobody_may_write(tmp_path):
    """Permissions do not bind root, so if the tests run as root, a child becomes another user first."""
    with open_index(tmp_path / "index", 64) as index:
        index.add([1, 2], CODES[:2])
        with tempfile.TemporaryDirectory() as place:
            Path(place).chmod(0o755)
            copy = Path(place) / "index"
            copy.mkdir()
            for name in (store.FILE, f"{store.FILE}-wal"):
                shutil.copy(tmp_path / "index" / name, copy / name)
                (copy / name).chmod(0o444)
            copy.chmod(0o555)
            code = """
                import os, sys
                from pts3h.errors import UserError
                from pts3h.index import open_index
                from pts3h.index.local import index  # while this user may still read it
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                try:
                    open_index(sys.argv[1], read_only=True)
                except UserError as error:
                    print(error)
            """
            command = [sys.executable, "-c", textwrap.dedent(code), str(copy)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            copy.chmod(0o755)
    assert "wait in index.sqlite-wal" in said and "read_only" not in said
    assert "open the index once where that is allowed, or a copy of the folder" in said


def test_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "index").write_text("a file")
    with pytest.raises(UserError, match="that is a file, not a folder"):
        open_index(tmp_path / "index", 64)
