"""Damaged files, full disks, folders without permission, and logs and caches that disagree."""

import json
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
from pts3h.index.local import cache, store, sums
from pts3h.index.local import index as local_engine

from .saved import cache_of

N = 9_000  # enough for a cache


def codes_of(n, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, 8), np.uint8)


@pytest.fixture
def folder(tmp_path):
    """An index of N items with metadata on a few, and its cache."""
    with open_index(tmp_path / "index", 64, model="m") as index:
        index.add(range(N), codes_of(N), [{"even": n % 2 == 0} if n < 10 else None for n in range(N)])
    assert (tmp_path / "index" / cache.FILE).exists()
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [store.FILE, sums.FILE, cache.FILE]
    return tmp_path / "index"


def assert_whole(index, n=N):
    assert index.count == n
    codes = codes_of(n)
    for row in (0, 7, n - 1):
        assert index.within(codes[row], 0)[0].ids == [row]
    assert sorted(index.within(codes[0], 64, where={"even": True})[0].ids) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[:100],
        lambda raw: raw[:-1],
        lambda raw: raw + b"\0",
        lambda raw: raw[:5000] + bytes([raw[5000] ^ 1]) + raw[5001:],
        lambda raw: raw[:60] + bytes([raw[60] ^ 64]) + raw[61:],
        lambda raw: b"something else entirely",
    ],
)
def test_a_damaged_cache_is_ignored_and_made_again(folder, damage):
    path = folder / cache.FILE
    path.write_bytes(damage(path.read_bytes()))
    broken = path.read_bytes()
    with open_index(folder, read_only=True) as index:
        assert_whole(index)
    assert path.read_bytes() == broken
    with open_index(folder) as index:
        assert_whole(index)
    assert cache_of(folder) is not None
    with open_index(folder) as index:
        assert_whole(index)


def test_the_cache_of_another_index_is_ignored(folder, tmp_path):
    with open_index(tmp_path / "other", 64) as other:
        other.add(range(N), codes_of(N, seed=1))
    shutil.copy(tmp_path / "other" / cache.FILE, folder / cache.FILE)
    with open_index(folder) as index:
        assert_whole(index)


def test_a_cache_behind_the_log_is_brought_up_to_date(folder):
    old = (folder / cache.FILE).read_bytes()
    with open_index(folder) as index:
        index.remove([3, 4])
        index.add([5, N], codes_of(2, seed=9))
    (folder / cache.FILE).write_bytes(old)
    with open_index(folder) as index:
        assert index.count == N - 1
        assert index.get([3, 4]) == [None, None]
        assert index.within(codes_of(2, seed=9)[0], 0)[0].ids == [5]


def test_a_database_put_back_from_a_backup_does_not_trust_the_later_cache(folder):
    backup = (folder / store.FILE).read_bytes()
    with open_index(folder) as index:
        for number in range(3):
            index.add(range(10_000 * (number + 1), 10_000 * (number + 2)), codes_of(10_000, seed=number))
    assert cache_of(folder)[1].last > 1
    (folder / store.FILE).write_bytes(backup)
    with open_index(folder) as index:
        for number in range(10):
            index.add([number], codes_of(N)[number : number + 1], [{"even": number % 2 == 0}])
    with open_index(folder) as index:
        assert_whole(index)


def test_a_rewritten_log_is_noticed_by_readers_and_old_caches(folder, monkeypatch):
    monkeypatch.setattr(local_engine, "GARBAGE", 10)
    old = (folder / cache.FILE).read_bytes()
    with open_index(folder) as reader, open_index(folder) as writer:
        assert reader.count == N
        epoch = writer._snapshot and writer._snapshot.state.epoch
        for turn in range(3):
            writer.remove(range(N - 10))
            assert reader.count == 10
            writer.add(range(N - 10), codes_of(N, seed=turn)[: N - 10])
            assert reader.count == N
            assert reader.within(codes_of(N, seed=turn)[5], 0)[0].ids == [5]
        writer.remove(range(N - 10))
        assert reader._snapshot.state.epoch != epoch
        with sqlite3.connect(folder / store.FILE) as connection:
            entries = connection.execute("SELECT sum(size) FROM log").fetchone()[0]
        connection.close()
        assert entries < 3 * N
    (folder / cache.FILE).write_bytes(old)
    with open_index(folder) as index:
        assert index.count == 10


def test_everything_removed_and_begun_again(folder, monkeypatch):
    monkeypatch.setattr(local_engine, "GARBAGE", 10)
    with open_index(folder) as index:
        index.remove(range(N))
        assert index.count == 0
        index.remove(range(N))
    with open_index(folder) as index:
        assert index.count == 0
        index.add([1], codes_of(1))
        assert index.count == 1
        with pytest.raises(UserError, match="ids that are integers"):
            index.add(["a"], codes_of(1))


def test_small_adds_leave_few_records(tmp_path):
    with open_index(tmp_path / "index", 64) as index:
        for number in range(200):
            index.add([number], codes_of(200)[number : number + 1])
        index.remove([7])
        with sqlite3.connect(tmp_path / "index" / store.FILE) as connection:
            assert connection.execute("SELECT count(*) FROM log").fetchone()[0] < 12
        connection.close()
        assert index.count == 199


def test_a_database_that_is_not_one_is_refused(folder):
    (folder / store.FILE).write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(UserError, match=r"damaged; restore it from a backup, or remove .* and index again"):
        open_index(folder)


def test_a_damaged_page_is_refused(folder):
    path = folder / store.FILE
    raw = bytearray(path.read_bytes())
    raw[4096 : len(raw) // 2] = os.urandom(len(raw) // 2 - 4096)
    path.write_bytes(raw)
    (folder / cache.FILE).unlink()
    with pytest.raises(UserError, match="damaged"), open_index(folder) as index:
        index.search(codes_of(1))


def test_a_flipped_bit_in_the_codes_is_refused(folder):
    path = folder / store.FILE
    raw = bytearray(path.read_bytes())
    place = raw.find(codes_of(N)[4000:4004].tobytes())
    assert place > 0
    raw[place] ^= 1
    path.write_bytes(raw)
    (folder / cache.FILE).unlink()
    with pytest.raises(UserError, match="damaged"), open_index(folder) as index:
        index.search(codes_of(1))


def test_the_database_of_something_else_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / store.FILE) as connection:
        connection.execute("CREATE TABLE birds (name TEXT)")
    connection.close()
    with pytest.raises(UserError, match="something else"):
        open_index(tmp_path, 64)


def test_a_later_format_is_refused(folder):
    with sqlite3.connect(folder / store.FILE) as connection:
        connection.execute("UPDATE info SET value = 99 WHERE name = 'format'")
    connection.close()
    with pytest.raises(UserError, match="format 99"):
        open_index(folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bits": 32}, "holds codes of 64 bits, not 32"),
        ({"model": "other"}, "another model"),
        ({"bits": 0}, "bits must be"),
        ({"token": "x"}, "no option 'token'"),
    ],
)
def test_opening_with_the_wrong_idea(folder, arguments, message):
    with pytest.raises(UserError, match=message):
        open_index(folder, **arguments)


def test_opening_what_is_not_there(tmp_path):
    for arguments in ({}, {"bits": 64, "read_only": True}):
        with pytest.raises(UserError, match="there is no index"):
            open_index(tmp_path / "nowhere", **arguments)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(UserError, match="a folder or milvus://"):
        open_index("http://host/index", 64)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="a file, not a folder"):
        open_index(tmp_path / "file" / "index", 64)


def test_read_only_reads_and_follows_but_does_not_write(folder):
    with open_index(folder) as writer, open_index(folder, read_only=True) as reader:
        assert_whole(reader)
        writer.add([N], codes_of(1, seed=5))
        assert reader.count == N + 1
        for write in (lambda: reader.add([1], codes_of(1)), lambda: reader.remove([1])):
            with pytest.raises(UserError, match="was opened read-only; open it without read_only"):
                write()


def run_python(code, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_a_folder_without_permission_to_write(folder):
    """Permissions do not bind root, so if the tests run as root, a child becomes another user first."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "index"
        shutil.copytree(folder, copy)
        for path in (copy / store.FILE, copy / cache.FILE, copy, Path(place)):
            path.chmod(0o555)
        code = """
            import os, sys, numpy as np
            from pts3h import kernel
            from pts3h.errors import UserError
            from pts3h.index import open_index
            from pts3h.index.local import index  # while this user may still read it
            kernel.compiled()
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            with open_index(sys.argv[1], read_only=True) as index:
                print(index.count, index.within(np.array(eval(sys.argv[2]), np.uint8), 0)[0].ids)
            for again in range(2):
                try:
                    with open_index(sys.argv[1 + 2 * again], 64) as index:
                        index.add([1], np.zeros((1, 8), np.uint8))
                except UserError as error:
                    print(error)
        """
        done = run_python(code, copy, codes_of(N)[7].tolist(), Path(place) / "new")
        Path(place).chmod(0o755)
        copy.chmod(0o755)
    assert done.stderr == ""
    first, second, third = done.stdout.splitlines()
    assert first == f"{N} [7]"
    assert "no permission to write there; open it with read_only=True" in second
    assert "no permission to write there" in third


def test_no_space_left(folder):
    """A limit on file size stands in for a full disk: the add that fails is refused, all else stays."""
    code = """
        import resource, signal, sys
        import numpy as np
        from pts3h.errors import UserError
        from pts3h.index import open_index
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        index = open_index(sys.argv[1])
        index.add([100_000], np.ones((1, 8), np.uint8))
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        try:
            index.add(range(200_000, 300_000), np.zeros((100_000, 8), np.uint8))
        except UserError as error:
            print(error)
        print(index.count, index.search(np.ones(8, np.uint8), k=1)[0].ids)
        index.close()
    """
    done = run_python(code, folder, check=True)
    message, answer = done.stdout.splitlines()
    assert message.startswith("cannot use the index") and "full" in message
    assert answer == f"{N + 1} [100000]"
    with open_index(folder) as index:
        assert index.count == N + 1
        index.remove([100_000])
        assert_whole(index)


def test_a_really_full_disk(folder):
    place = Path(tempfile.mkdtemp())
    mounted = (
        os.getuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True
        ).returncode
        == 0
    )
    if not mounted:
        place.rmdir()
        pytest.skip("needs to mount a small disk")
    try:
        with open_index(place / "index", 64) as index:
            index.add(range(1000), codes_of(1000))
            with pytest.raises(UserError, match="the disk is full; free some space"):
                index.add(range(1000, 200_000), codes_of(199_000))
            assert index.count == 1000
        with open_index(place / "index") as index:
            assert index.count == 1000
            index.add([5000], codes_of(1))
    finally:
        subprocess.run(["umount", place], check=True)
        place.rmdir()


def test_metadata_round_trips_as_json(tmp_path):
    meta = {"float": 0.1 + 0.2, "big": 2**63 - 1, "text": "ü\n'\"", "no": None, "deep": {"a": [1, 2.5, "x"]}}
    with open_index(tmp_path / "index", 64) as index:
        index.add([1], codes_of(1), [meta])
        assert index.get([1])[0].meta == json.loads(json.dumps(meta))
        assert index.search(codes_of(1), where={"float": 0.1 + 0.2, "big": 2**63 - 1})[0].ids == [1]
        assert index.search(codes_of(1), where={"big": 2**63 - 2})[0].ids == []


def test_importing_the_index_is_light():
    done = run_python(
        "import sys, pts3h, pts3h.index, pts3h.index.local.index\n"
        "print([name for name in ('torch', 'faiss', 'pymilvus', 'psycopg', 'rich') if name in sys.modules])",
        check=True,
    )
    assert done.stdout == "[]\n"
