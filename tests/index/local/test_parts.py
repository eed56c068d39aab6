"""New items beside the many: in few segments, of which a write makes only small ones anew."""

from itertools import pairwise

import numpy as np
import pytest

from pts3h.index import open_index
from pts3h.index.local import snapshot

from ..oracle import random_codes


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "RECENT", 32)
    with open_index(tmp_path / "index", 64) as index:
        yield index


@pytest.fixture
def built(monkeypatch):
    """How many entries each new segment was made from."""
    sizes, build = [], snapshot.build

    def counted(layout, kind, ids, codes, kept):
        sizes.append(len(ids))
        return build(layout, kind, ids, codes, kept)

    monkeypatch.setattr(snapshot, "build", counted)
    return sizes


def sizes(index):
    return [part.count for part in index._current().parts]


def test_small_writes_make_small_segments(index, built):
    codes = random_codes(np.random.default_rng(0), 4_000, 64)
    index.add(range(2_000), codes[:2_000])
    assert sizes(index) == [2_000]
    built.clear()
    for start in range(2_000, 4_000, 4):
        index.add(range(start, start + 4), codes[start : start + 4])
        parts = sizes(index)
        assert sum(parts) == start + 4 and len(parts) <= 5
        assert all(small <= max(32, large / 8) for large, small in pairwise(parts))
        (hits,) = index.search(codes[start : start + 1], k=1)
        assert hits.ids == [start] and hits.distances == [0]
    assert sum(built) < 40 * 2_000, "each item is written anew a few times, not at every later write"


def test_a_segment_of_which_little_is_left_goes(index):
    codes = random_codes(np.random.default_rng(1), 1_100, 64)
    index.add(range(1_000), codes[:1_000])
    assert sizes(index) == [1_000]
    index.add(range(1_000, 1_100), codes[1_000:])
    assert sizes(index) == [1_000, 100]
    index.remove(range(600))
    assert sizes(index) == [500]
    index.remove(range(600, 1_100))
    assert sizes(index) == [] and index.count == 0


def test_an_item_that_is_written_again_counts_once(index):
    codes = random_codes(np.random.default_rng(2), 300, 64)
    index.add(range(200), codes[:200])
    for step in range(6):
        rows = np.arange(step, 200, 20)
        index.add(rows, codes[200 + rows % 100])
        assert sum(sizes(index)) == index.count == 200
        items = index.get(rows.tolist())
        np.testing.assert_array_equal([item.code for item in items], codes[200 + rows % 100])
