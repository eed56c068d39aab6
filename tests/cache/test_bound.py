"""What leaves the cache: the least recently used first, never what is in use, other folders only by name."""

import gc
import os

import numpy as np
import pytest

from pts3h import UserError
from pts3h.cache.bound import EARLIER, cache_limit, clear, keep_within, list_features, list_others
from pts3h.cache.rows import Kind, find
from pts3h.util.files import cache_folder
from tests.cache.rows import PARTS, WIDTH, keys, rows

SEGMENT = 10 * (PARTS * WIDTH * 2 + 36)  # bytes that ten rows take


def write(name, used):
    """A kind with ten rows, last used at some time."""
    kind = Kind(cache_folder("features") / name, PARTS, WIDTH)
    with kind.filling(10) as appender:
        appender.append(keys(10), rows(10))
    (file,) = kind.folder.glob("*.keys")
    os.utime(file, (used, used))
    return kind


def names():
    return [entry.name for entry in list_features()]


@pytest.fixture
def three():
    """Used in the order c, a, b."""
    return {name: write(f"net/{name}", used) for name, used in (("a", 2000), ("b", 3000), ("c", 1000))}


@pytest.fixture
def earlier():
    """Two collections in the layout of before, one of them half done."""
    folder = cache_folder("features")
    for name in ("1-2.npy", "1-2.json", "1-2.lock", "3-4.part", "3-4.json"):
        (folder / name).write_bytes(b"x" * 50)


def test_the_listing(three, earlier):
    (cache_folder("datasets") / "pixels.npy").write_bytes(b"x" * 70)
    entries = {entry.name: entry for entry in list_features()}
    assert list(entries) == ["net/a", "net/b", "net/c", EARLIER]
    assert [(e.pictures, e.size, e.last_used) for e in entries.values()] == [
        (10, SEGMENT, 2000),
        (10, SEGMENT, 3000),
        (10, SEGMENT, 1000),
        (None, 250, None),
    ]
    (other,) = list_others()
    assert (other.name, other.size, other.pictures, other.is_features) == ("datasets", 70, None, False)


def test_using_rows_is_noted(three):
    found = find(three["c"].segments(), keys(1))
    assert found.known.all()
    last = {entry.name: entry.last_used for entry in list_features()}
    assert last["net/c"] > 3000 and last["net/a"] == 2000
    find(three["a"].segments(), keys(1, first=99))  # found nothing, used nothing
    assert {entry.name: entry.last_used for entry in list_features()} == last


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (3 * SEGMENT, ["net/a", "net/b", "net/c"]),
        (3 * SEGMENT - 1, ["net/a", "net/b"]),
        (2 * SEGMENT - 1, ["net/b"]),
        (0, []),
    ],
)
def test_the_least_recently_used_leaves_first(three, limit, left):
    assert keep_within(limit) == (3 - len(left)) * SEGMENT
    assert names() == left


def test_before_it_files_of_the_earlier_layout(three, earlier):
    assert keep_within(3 * SEGMENT + 250) == 0
    assert keep_within(3 * SEGMENT) == 250 and names() == ["net/a", "net/b", "net/c"]


def test_what_is_in_use_stays(three):
    used = find(three["c"].segments(), keys(10)).array(PARTS, WIDTH)
    assert keep_within(SEGMENT) == 2 * SEGMENT and names() == ["net/c"]
    assert clear() == (0, ["net/c"])
    np.testing.assert_array_equal(used, rows(10))
    del used
    gc.collect()
    assert clear() == (SEGMENT, []) and names() == []


def test_clear_takes_all_features_and_nothing_else(three, earlier):
    (cache_folder("datasets") / "pixels.npy").write_bytes(b"x" * 70)
    assert clear() == (3 * SEGMENT + 250, [])
    assert names() == [] and [entry.name for entry in list_others()] == ["datasets"]


def test_clear_by_name(three):
    (cache_folder("datasets") / "pixels.npy").write_bytes(b"x" * 70)
    assert clear(["datasets", "net/b"]) == (SEGMENT + 70, [])
    assert names() == ["net/a", "net/c"] and list_others() == []
    with pytest.raises(UserError, match="no 'net/b'; it has net/a, net/c"):
        clear(["net/a", "net/b"])
    assert names() == ["net/a", "net/c"]


def test_the_limit_is_20_gb_or_what_is_set(monkeypatch):
    assert cache_limit() == 20 * 10**9
    monkeypatch.setenv("PTS3H_CACHE_LIMIT", "1.5 GB")
    assert cache_limit() == 1_500_000_000
