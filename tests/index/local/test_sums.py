"""The checksum over the whole database finds damage that nothing in the file shows, and accuses nobody."""

import os
import shutil
import signal

import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.local import cache, store, sums

from .saved import change

CODES = np.random.default_rng(0).integers(0, 256, (20, 8), np.uint8)


@pytest.fixture
def folder(tmp_path):
    with open_index(tmp_path / "index", 64) as index:
        index.add(range(20), CODES, [{"n": n} for n in range(20)])
    return tmp_path / "index"


@pytest.mark.parametrize("read_only", [True, False])
def test_a_value_of_the_lookup_table_that_changed(folder, read_only):
    change(folder, "UPDATE facts SET value = 7 WHERE id = 5")
    with (
        open_index(folder, read_only=read_only) as index,
        pytest.raises(UserError, match="is damaged; restore it from a backup"),
    ):
        index.search(CODES[0], 20, where={"n": 7})


def test_metadata_and_records_that_are_gone(folder):
    whole = shutil.copytree(folder, folder.with_name("whole"))
    for statement in ("DELETE FROM meta WHERE id = 5", "DELETE FROM log"):
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        change(folder, statement)
        with open_index(folder) as index, pytest.raises(UserError, match="is damaged"):
            index.get([5])
        with pytest.raises(UserError, match="is damaged"), open_index(folder) as index:
            index.add([99], CODES[:1])


def test_what_others_wrote_since_is_no_damage(folder):
    with open_index(folder) as one, open_index(folder) as other:
        other.add([20], CODES[:1], [{"n": 20}])
        assert one.get([20])[0].meta == {"n": 20}
    with open_index(folder) as index:
        assert index.get([20])[0].meta == {"n": 20}


def test_a_database_put_back_from_a_backup_is_no_damage(folder):
    backup = (folder / store.FILE).read_bytes()
    with open_index(folder) as index:
        index.remove([3])
    (folder / store.FILE).write_bytes(backup)
    with open_index(folder) as index:
        assert index.get([3])[0].meta == {"n": 3}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_crash_it_says_nothing(folder):
    child = os.fork()
    if child == 0:
        index = open_index(folder)
        index.add([20], CODES[:1], [{"n": 20}])
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with open_index(folder) as index:
        assert index.count == 21 and index.get([20])[0].meta == {"n": 20}
    assert sums.read(folder) is not None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"moment": 1}', "{"])
def test_one_that_is_damaged_itself_is_made_again(folder, text):
    (folder / sums.FILE).write_text(text)
    with open_index(folder) as index:
        assert index.get([5])[0].meta == {"n": 5}
    assert sums.read(folder) is not None


def test_it_is_not_needed(folder):
    (folder / sums.FILE).unlink()
    with open_index(folder, read_only=True) as index:
        assert index.get([5])[0].meta == {"n": 5}
    assert not (folder / sums.FILE).exists()
    assert not (folder / cache.FILE).exists()
