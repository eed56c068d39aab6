"""Rows under keys: what is written is found, whoever writes, and whatever happens to the files."""

import errno
import gc
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from pts3h import UserError
from pts3h.cache import rows as rows_module
from pts3h.cache.rows import NOWHERE, Kind, find
from pts3h.cache.segment import RECORD, remove_if_unused
from pts3h.util.files import cache_folder
from tests.cache.rows import PARTS, WIDTH, keys, rows

PROJECT = Path(__file__).parents[2]
ROW = PARTS * WIDTH * 2


@pytest.fixture
def kind(tmp_path):
    return Kind(tmp_path / "kind", PARTS, WIDTH)


def fill(kind, count, first=0):
    with kind.filling(count) as appender:
        appender.append(keys(count, first), rows(count, first))


def look(kind, wanted):
    found = find(kind.segments(), wanted)
    return found, found.array(PARTS, WIDTH)


def files(kind, suffix):
    return sorted(kind.folder.glob(f"*.{suffix}"))


class TestFinding:
    def test_in_any_order_twice_and_not_at_all(self, kind):
        fill(kind, 10)
        known = keys(12)
        wanted = [known[7], known[11], known[3], known[7], NOWHERE, known[0]]
        found, array = look(kind, wanted)
        assert found.known.tolist() == [True, False, True, True, False, True]
        np.testing.assert_array_equal(array[found.known], rows(10)[[7, 3, 7, 0]])
        assert not array[~found.known].any()

    def test_an_empty_folder_holds_nothing(self, kind):
        found, array = look(kind, keys(3))
        assert not found.known.any() and array.shape == (3, PARTS, WIDTH) and not array.any()
        assert look(kind, [])[1].shape == (0, PARTS, WIDTH)

    def test_fewer_parts_than_were_kept(self, kind):
        fill(kind, 6)
        for wanted in (keys(6), keys(6)[::-1]):
            array = find(kind.segments(), wanted).array(1, WIDTH)
            np.testing.assert_array_equal(array, look(kind, wanted)[1][:, :1])

    def test_keys_that_begin_alike_are_told_apart(self, kind):
        twins = [b"12345678" + bytes([n]) * 24 for n in range(3)]
        with kind.filling(2) as appender:
            appender.append(twins[:2], rows(2))
        found, array = look(kind, twins[::-1])
        assert found.known.tolist() == [False, True, True]
        np.testing.assert_array_equal(array[1:], rows(2)[::-1])

    def test_in_order_they_are_mapped_and_otherwise_copied(self, kind):
        fill(kind, 10)
        for wanted, copied in ((keys(10), False), (keys(4, 3), False), (keys(10)[::-1], True)):
            assert look(kind, wanted)[1].flags.writeable is copied

    def test_several_segments(self, kind, monkeypatch):
        monkeypatch.setattr(rows_module, "FULL_SEGMENT", 5 * ROW)
        for first in range(0, 12, 4):
            fill(kind, 4, first)
        assert len(files(kind, "rows")) == 2  # the first was not full after four rows, but after eight
        order = np.random.default_rng(0).permutation(12)
        found, array = look(kind, [keys(12)[number] for number in order])
        assert found.known.all()
        np.testing.assert_array_equal(array, rows(12)[order])
        part = found.at(np.array([5, 1]))
        np.testing.assert_array_equal(part.array(PARTS, WIDTH), rows(12)[order[[5, 1]]])


class TestDamage:
    def test_a_flipped_bit_anywhere_is_noticed(self, kind):
        fill(kind, 5)
        for suffix, length in (("rows", ROW), ("keys", RECORD.itemsize)):
            (file,) = files(kind, suffix)
            whole = file.read_bytes()
            for bit in range(2 * length * 8, 3 * length * 8):  # every bit of the third row or record
                bad = bytearray(whole)
                bad[bit // 8] ^= 1 << bit % 8
                file.write_bytes(bad)
                assert look(kind, keys(5))[0].known.tolist() == [True, True, False, True, True]
            file.write_bytes(whole)

    @pytest.mark.parametrize(("suffix", "length"), [("rows", ROW), ("keys", RECORD.itemsize)])
    def test_a_file_cut_short_loses_its_end(self, kind, suffix, length):
        fill(kind, 5)
        os.truncate(files(kind, suffix)[0], 3 * length + 1)
        found, array = look(kind, keys(5))
        assert found.known.tolist() == [True, True, True, False, False]
        np.testing.assert_array_equal(array[:3], rows(3))
        fill(kind, 2, 3)  # what is added again takes the place of what was lost
        assert files(kind, "rows")[0].stat().st_size == 5 * ROW
        found, array = look(kind, keys(5))
        assert found.known.all()
        np.testing.assert_array_equal(array, rows(5))

    def test_what_is_written_again_counts(self, kind):
        fill(kind, 5)
        (file,) = files(kind, "rows")
        file.write_bytes(bytes(5 * ROW))
        assert not look(kind, keys(5))[0].known[1:].any()
        fill(kind, 5)
        np.testing.assert_array_equal(look(kind, keys(5))[1], rows(5))


KILLED = """
import os, signal, sys
from pathlib import Path
from pts3h.cache import segment
from pts3h.cache.rows import Kind
from pts3h.util.files import cache_folder
from tests.cache.rows import PARTS, WIDTH, keys, rows
write, left = segment.write_at, int(sys.argv[2])

def half(file, content, offset):
    global left
    left -= 1
    if left < 0:
        write(file, content[: int(len(content) * float(sys.argv[3]))], offset)
        os.kill(os.getpid(), signal.SIGKILL)
    write(file, content, offset)

segment.write_at = half
with Kind(Path(sys.argv[1]), PARTS, WIDTH).filling(100) as appender:
    for first in range(0, 100, 10):
        appender.append(keys(10, first), rows(10, first))
"""


@pytest.mark.parametrize(("writes", "share"), [(0, 0.47), (1, 0.0), (6, 0.47), (7, 0.47), (7, 1.0)])
def test_kill_9_leaves_whole_rows(kind, writes, share):
    """In the middle of writing rows (even numbers) or their records (odd ones)."""
    arguments = [sys.executable, "-c", KILLED, str(kind.folder), str(writes), str(share)]
    assert subprocess.run(arguments, cwd=PROJECT).returncode == -signal.SIGKILL
    found, array = look(kind, keys(100))
    kept = int(found.known.sum())
    finished = writes // 2 * 10
    assert finished <= kept <= finished + 10 * (writes % 2) and found.known[:kept].all()
    np.testing.assert_array_equal(array[:kept], rows(kept))
    fill(kind, 100 - kept, kept)
    np.testing.assert_array_equal(look(kind, keys(100))[1], rows(100))
    assert files(kind, "rows")[0].stat().st_size == 100 * ROW


APPENDING = """
import sys
from pathlib import Path
from pts3h.cache.rows import Kind
from pts3h.util.files import cache_folder
from tests.cache.rows import PARTS, WIDTH, keys, rows
kind, start = Kind(Path(sys.argv[1]), PARTS, WIDTH), int(sys.argv[2])
for first in range(start, start + 200, 5):
    with kind.filling(5) as appender:
        appender.append(keys(5, first), rows(5, first))
"""


def test_several_processes_at_once(kind):
    """Three append while this one reads: nothing is lost, and nothing wrong is ever seen."""
    kind.folder.mkdir()
    running = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(kind.folder), str(200 * n)], cwd=PROJECT)
        for n in range(3)
    ]
    while any(process.poll() is None for process in running):
        found, array = look(kind, keys(600))
        np.testing.assert_array_equal(array[found.known], rows(600)[found.known])
    assert all(process.returncode == 0 for process in running)
    found, array = look(kind, keys(600))
    assert found.known.all()
    np.testing.assert_array_equal(array, rows(600))
    assert files(kind, "rows")[0].stat().st_size == 600 * ROW


class TestInUse:
    def test_mapped_rows_are_not_removed(self, kind):
        fill(kind, 5)
        (file,) = files(kind, "rows")
        array = look(kind, keys(5))[1]
        view = array[2:, 0]
        del array
        gc.collect()
        assert not remove_if_unused(file) and file.exists()
        del view
        gc.collect()
        assert remove_if_unused(file) and not any(kind.folder.iterdir())

    def test_nor_are_those_that_are_being_filled(self, kind):
        with kind.filling(2) as appender:
            (file,) = files(kind, "rows")
            assert not remove_if_unused(file)
            appender.append(keys(2), rows(2))
        assert remove_if_unused(file) and remove_if_unused(file)

    def test_a_removed_segment_is_made_again(self, kind):
        fill(kind, 5)
        segments = kind.segments()
        del segments
        gc.collect()
        assert remove_if_unused(files(kind, "rows")[0])
        assert not look(kind, keys(5))[0].known.any()
        fill(kind, 3)
        assert look(kind, keys(5))[0].known.tolist() == [True] * 3 + [False] * 2


class TestFullDisk:
    def test_said_before_the_work(self, small_disk):
        kind = Kind(small_disk / "kind", 1, 1000)
        with (
            pytest.raises(UserError, match="the disk is full; free some space"),
            kind.filling(1000),
        ):
            pytest.fail("there is no space for this")
        assert sum(path.stat().st_size for path in kind.folder.iterdir()) == 0

    def test_space_that_was_not_needed_is_given_back(self, kind):
        with kind.filling(1000) as appender:
            (file,) = files(kind, "rows")
            assert file.stat().st_blocks * 512 >= 1000 * ROW
            appender.append(keys(3), rows(3))
        assert file.stat().st_size == 3 * ROW


class TestLargeCopies:
    def test_lie_on_disk(self, kind, monkeypatch):
        fill(kind, 10)
        wanted = keys(11)[::-1]
        small = look(kind, wanted)[1]
        monkeypatch.setattr(rows_module, "IN_MEMORY", 10 * ROW)
        monkeypatch.setattr(rows_module, "CHUNK", 4)
        large = look(kind, wanted)[1]
        assert isinstance(base_of(large), mmap.mmap) and not isinstance(base_of(small), mmap.mmap)
        np.testing.assert_array_equal(large, small)
        np.testing.assert_array_equal(large[1:], rows(10)[::-1])
        large[0] = 7  # may be written to, and nobody else sees it
        assert not look(kind, wanted)[1][0].any()
        assert not [path for path in cache_folder().iterdir() if path.is_file()]

    def test_or_in_memory_if_the_disk_is_full(self, kind, monkeypatch):
        fill(kind, 10)

        def full(**_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(rows_module, "IN_MEMORY", 0)
        monkeypatch.setattr(tempfile, "TemporaryFile", full)
        np.testing.assert_array_equal(look(kind, keys(10)[::-1])[1], rows(10)[::-1])


def base_of(array):
    """What the memory of an array belongs to."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array
