"""What an index of many items takes while it is read from its log, saved and opened."""

import tracemalloc

import numpy as np
import pytest

from pts3h.index import open_index
from pts3h.index.local.cache import FILE
from pts3h.index.local.filtering import FILTERS_KEPT, MASKS_KEPT

N, BATCH = 400_000, 50_000
HELD = 16  # bytes of an item that is searched: 64 bits and an integer id
CODES = np.random.default_rng(0).integers(0, 256, (N, 8), np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "index"
    with open_index(folder, 64) as index:
        for start in range(0, N, BATCH):
            index.add(np.arange(start, start + BATCH), CODES[start : start + BATCH])
    return folder


def peak_of_opening(folder):
    """Bytes of memory per item, at most, until the first answer is there."""
    tracemalloc.start()
    try:
        index = open_index(folder, read_only=True)
        assert [hits.ids for hits in index.search(CODES[:2], 1)] == [[0], [1]]
        return tracemalloc.get_traced_memory()[1] / N
    finally:
        tracemalloc.stop()


def test_opening_takes_little_more_than_what_is_searched(folder):
    assert peak_of_opening(folder) < 2 * HELD


def test_reading_the_log_takes_a_few_copies(folder, tmp_path):
    """One of the log's records, one of all of them in a row: integer ids are never Python's own."""
    cache = folder / FILE
    cache.rename(tmp_path / FILE)
    try:
        assert peak_of_opening(folder) < 4 * HELD
    finally:
        (tmp_path / FILE).rename(cache)


def test_filters_that_are_kept_take_bits_not_bytes(folder):
    """Two bits per item each, and a byte for the few whose mask is ready: not two bytes each."""
    with open_index(folder, read_only=True) as index:
        index.search(CODES[:1], 1, {"n": -1})
        tracemalloc.start()
        try:
            for number in range(FILTERS_KEPT):
                assert index.search(CODES[:1], 1, {"n": number})[0].ids == []
            held = tracemalloc.get_traced_memory()[0] / N
        finally:
            tracemalloc.stop()
    assert held < 1.2 * (FILTERS_KEPT / 4 + MASKS_KEPT)


def test_merging_into_a_large_segment_copies_it_once(tmp_path):
    """The items that were there are taken as they are; what else it needs is little beside them."""
    with open_index(tmp_path / "index", 64) as index:
        index.add(range(N), CODES)
        index.search(CODES[:1], 1)
        index.search(CODES[:1], 1, {"n": 1})  # what is known of a filter is handed on
        more = N // 4
        index.add(range(N, N + more), CODES[:more])
        tracemalloc.start()
        try:
            assert [hits.ids for hits in index.search(CODES[more : more + 2], 1)] == [[more], [more + 1]]
            peak = tracemalloc.get_traced_memory()[1] / (N + more)
        finally:
            tracemalloc.stop()
    assert peak < 2.5 * HELD
