"""A database or a saved search structure that no index has written: a clear refusal, never a wrong answer."""

import json
import shutil

import numpy as np
import pytest

from pts3h.codes import Layout
from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.local import cache, store, sums
from pts3h.index.local.ids import sorted_ids
from pts3h.index.local.segment import Segment
from pts3h.index.local.store import State

from .saved import cache_of, change, info_of

N = 9_000  # enough for a cache
CODES = np.random.default_rng(0).integers(0, 256, (N, 8), np.uint8)


@pytest.fixture
def folder(tmp_path):
    with open_index(tmp_path / "index", 64, model="m") as index:
        index.add(range(N), CODES, [{"n": n, "text": "x" * n} if n < 10 else None for n in range(N)])
    return tmp_path / "index"


def use_everything(folder):
    with open_index(folder) as index:
        assert index.count == N
        assert index.search(CODES[5], 1)[0].ids == [5]
        assert sorted(index.within(CODES[0], 64, {"n": {"<": 3}})[0].ids) == [0, 1, 2]
        assert index.get([7])[0].meta == {"n": 7, "text": "x" * 7}
        index.add([7], CODES[7:8], [{"n": 7, "text": "x" * 7}])
        index.remove([7])


def refused(folder):
    with pytest.raises(
        UserError, match=r"is damaged; restore it from a backup, or remove .* and index again"
    ):
        use_everything(folder)


@pytest.mark.parametrize("name", ["bits", "look", "weight", "model", "kind", "epoch", "checksum"])
def test_info_that_is_missing(folder, name):
    change(folder, f"DELETE FROM info WHERE name = '{name}'")
    refused(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bits", "32"),
        ("bits", "'many'"),
        ("bits", "-1"),
        ("look", "8"),
        ("weight", "2"),
        ("model", "'n'"),
        ("model", "7"),
        ("kind", "'text'"),
        ("kind", "NULL"),
        ("kind", "'bytes'"),
        ("epoch", "NULL"),
        ("epoch", "'another'"),
        ("cache", "'another'"),
        ("checksum", "0"),
        ("format", "2"),
        ("stranger", "1"),
    ],
)
def test_info_that_is_something_else(folder, name, value):
    change(folder, f"INSERT OR REPLACE INTO info VALUES ('{name}', {value})")
    refused(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [("bits", "'many'"), ("bits", "0"), ("kind", "'bytes'"), ("epoch", "7"), ("model", "7")],
)
def test_info_of_earlier_formats_that_makes_no_sense(folder, name, value):
    """They have no checksum, so some changes cannot be noticed, but all of these are."""
    change(
        folder,
        "UPDATE info SET value = 2 WHERE name = 'format'",
        f"INSERT OR REPLACE INTO info VALUES ('{name}', {value})",
    )
    refused(folder)


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE meta SET json = \'{"n": 6, "text": "xxxxxxx"}\' WHERE id = 7',
        "UPDATE meta SET json = 'not json' WHERE id = 7",
        "UPDATE meta SET json = NULL WHERE id = 7",
        "UPDATE meta SET json = x'ff' WHERE id = 7",
        "UPDATE meta SET json = CAST(x'ff' AS TEXT) WHERE id = 7",
        "UPDATE meta SET checksum = NULL WHERE id = 7",
        "DELETE FROM meta WHERE id = 7; UPDATE meta SET id = 7 WHERE id = 6",
        "INSERT INTO facts VALUES ('n', 'number', 1.5, 'an id that is text')",
        "INSERT INTO facts VALUES ('n', 'number', 1.5, x'ff')",
        "INSERT INTO facts VALUES ('n', 'number', 1.5, CAST(x'ff' AS TEXT))",
        "DROP TABLE meta",
        "DROP TABLE facts",
        "DROP TABLE log",
        "ALTER TABLE log DROP COLUMN size",
    ],
)
def test_tables_that_are_something_else(folder, statement):
    change(folder, *statement.split("; "))
    refused(folder)


@pytest.mark.parametrize(
    "setting",
    [
        "last = last + 1",
        "size = size + 1",
        "size = NULL",
        "ids = NULL",
        "codes = codes || x'00'",
        "gone = 'text'",
    ],
)
def test_records_that_are_something_else(folder, setting):
    (folder / cache.FILE).unlink()
    change(folder, f"UPDATE log SET {setting}")
    refused(folder)


@pytest.mark.parametrize("text", ["not json", "[1]", "7", "[" * 100_000, ""], ids=range(5))
def test_metadata_of_earlier_formats_that_is_not_json(tmp_path, text):
    with open_index(tmp_path / "index", 64) as index:
        index.add([1], CODES[:1])
    folder = tmp_path / "index"
    change(
        folder,
        "UPDATE info SET value = 2 WHERE name = 'format'",
        "DROP TABLE meta",
        "CREATE TABLE meta (id PRIMARY KEY, json TEXT) WITHOUT ROWID",
        f"INSERT INTO meta VALUES (1, '{text}')",
    )
    with pytest.raises(UserError, match="is damaged"), open_index(folder) as index:
        index.get([1])


def crafted(folder, ids, columns, changed):
    """A cache in which every checksum is right, and which no index has written."""
    state = cache_of(folder)[1]
    segment = Segment(Layout(64), "int", sorted_ids(ids, "int"), columns)
    cache.save(folder, segment, State(state.epoch, state.last))
    if changed:
        path = folder / cache.FILE
        raw = path.read_bytes()
        end = raw.index(b"\n", cache._START) + 1
        line = json.dumps(json.loads(raw[cache._START : end]) | changed).encode() + b"\n"
        rest = line + raw[end:]
        path.write_bytes(cache._MAGIC + cache._digest(rest) + rest)


COLUMNS = np.ascontiguousarray(CODES.view(np.uint64).T)
IDS = np.arange(N)


@pytest.mark.parametrize(
    ("ids", "columns", "more"),
    [
        (IDS[::-1].tobytes(), COLUMNS, {}),
        (np.zeros(N, np.int64).tobytes(), COLUMNS, {}),
        (IDS.tobytes(), np.ascontiguousarray(COLUMNS[:, ::-1]), {}),
        ((IDS + 1).tobytes(), COLUMNS, {}),
        (IDS[:100].tobytes(), COLUMNS[:, :100].copy(), {}),
        (IDS[:-1].tobytes(), COLUMNS, {}),
        (IDS.tobytes(), COLUMNS, {"count": N - 1}),
        (IDS.tobytes(), COLUMNS, {"ids": 0}),
        (IDS.tobytes(), COLUMNS, {"kind": "text"}),
        (IDS.tobytes(), COLUMNS, {"last": 10**6}),
        (IDS.tobytes(), COLUMNS, {"bits": "64"}),
        (IDS.tobytes(), COLUMNS, {"epoch": None}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_cache_that_no_index_has_written_is_not_believed(folder, ids, columns, more):
    crafted(folder, ids, columns, more)
    with open_index(folder, read_only=True) as index:
        assert index.count == N and index.within(CODES[5], 0)[0].ids == [5]
    use_everything(folder)
    with open_index(folder) as index:
        assert index.count == N - 1
    assert cache_of(folder) is not None  # made again


def test_the_database_names_its_cache(folder):
    assert cache_of(folder)[1].last == 1
    held = info_of(folder)["cache"]
    assert cache.state(folder, held) == cache_of(folder)[1]
    assert cache.state(folder, None) is None and cache.load(folder, Layout(64), "0" * 32) is None


def test_a_copy_of_a_folder_is_whole(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert cache_of(copy) is not None
    use_everything(copy)
    assert sorted(path.name for path in copy.iterdir()) == [store.FILE, sums.FILE, cache.FILE]
