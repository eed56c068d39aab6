"""An index whose folder is replaced or removed while it is open says so, and writes to no other place."""

import shutil

import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.local import store

CODES = np.random.default_rng(0).integers(0, 256, (20_000, 8), np.uint8)
GONE = "was replaced or removed while it was open; close it and open it again"


@pytest.fixture(autouse=True)
def look_before_each_search(monkeypatch):
    monkeypatch.setattr(store, "LOOK_SECONDS", 0)


def made(folder, ids):
    with open_index(folder, 64) as index:
        index.add(ids, CODES[: len(ids)])
    return folder


def put_in_place(new, folder):
    folder.rename(folder.with_name("old"))
    new.rename(folder)


def assert_refused(index):
    for use in (
        lambda: index.add([3], CODES[:1]),
        lambda: index.remove([1]),
        lambda: index.search(CODES[:1]),
        lambda: index.within(CODES[:1], 3),
        lambda: index.get([1]),
        lambda: index.scan(),
        lambda: index.count,
    ):
        with pytest.raises(UserError, match=GONE):
            use()


@pytest.mark.parametrize("used", ["only opened", "searched", "written"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_new_index_is_moved_into_place(tmp_path, used, read_only):
    folder, new = made(tmp_path / "index", [1, 2]), made(tmp_path / "new", [7, 8, 9])
    index = open_index(folder, read_only=read_only)
    if used == "searched":
        assert index.count == 2 and len(index.get([1])) == 1
    elif used == "written" and not read_only:
        index.add([3], CODES[:1])
    put_in_place(new, folder)
    assert_refused(index)
    index.close()
    with open_index(folder) as index:
        assert sorted(one for ids, _ in index.scan() for one in ids) == [7, 8, 9]


@pytest.mark.parametrize("written", [False, True])
def test_the_folder_is_removed(tmp_path, written):
    folder = made(tmp_path / "index", range(20_000))
    index = open_index(folder)
    index.search(CODES[:1])
    if written:
        index.add(range(20_000, 40_000), CODES)
    shutil.rmtree(folder)
    assert_refused(index)
    index.close()
    assert not folder.exists()  # not even with a saved search structure


def test_a_search_before_the_next_look_leaves_the_new_folder_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LOOK_SECONDS", 1e9)
    folder, new = made(tmp_path / "index", range(9_000)), made(tmp_path / "new", range(20_000))
    with open_index(folder) as index:
        put_in_place(new, folder)
        assert index.count == 9_000
    assert (folder / "search.cache").exists()


def test_a_write_always_looks(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LOOK_SECONDS", 1e9)
    folder, new = made(tmp_path / "index", [1, 2]), made(tmp_path / "new", [7])
    with open_index(folder) as index:
        put_in_place(new, folder)
        assert index.search(CODES[:1], 1)[0].ids == [1]  # it has looked a moment ago
        for write in (lambda: index.add([3], CODES[:1]), lambda: index.remove([1])):
            with pytest.raises(UserError, match=GONE):
                write()
        with pytest.raises(UserError, match=GONE):
            index.search(CODES[:1], 1)  # now it knows


def test_only_the_database_is_replaced(tmp_path):
    folder, new = made(tmp_path / "index", [1, 2]), made(tmp_path / "new", [7])
    with open_index(folder) as index:
        (new / "index.sqlite").replace(folder / "index.sqlite")
        assert_refused(index)


def test_an_index_that_is_replaced_during_an_add_does_not_claim_it(tmp_path, monkeypatch):
    folder, new = made(tmp_path / "index", [1, 2]), made(tmp_path / "new", [7])
    with open_index(folder) as index:
        index.add([5], CODES[:1])
        append = index._writer.append
        monkeypatch.setattr(
            index._writer, "append", lambda record: [append(record), put_in_place(new, folder)]
        )
        with pytest.raises(UserError, match=GONE):
            index.add([6], CODES[:1])
    with open_index(folder) as index:
        assert [ids for ids, _ in index.scan()] == [[7]]


def test_closing_leaves_the_search_structure_of_the_new_index_alone(tmp_path):
    folder, new = made(tmp_path / "index", range(9_000)), made(tmp_path / "new", range(20_000))
    index = open_index(folder)
    index.add(range(9_000, 29_000), CODES)
    put_in_place(new, folder)
    before = (folder / "search.cache").read_bytes()
    index.close()
    assert (folder / "search.cache").read_bytes() == before


def test_another_current_folder_is_not_another_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = open_index("index", 64)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with index:
        index.add([1], CODES[:1])
        assert index.count == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []
