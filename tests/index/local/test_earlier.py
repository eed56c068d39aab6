"""Indexes that earlier versions wrote still open, and hold what they held.

``golden/format-1`` is a folder as it was written before codes could have two parts: twelve text ids with
codes of 12 bits, of which ``i3`` was removed again.
"""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from pts3h.codes import Layout, hamming
from pts3h.index import open_index
from pts3h.index.local import cache, store

GOLDEN = Path(__file__).parent / "golden" / "format-1"
CODES = np.load(GOLDEN / "codes.npy")


@pytest.mark.parametrize("with_cache", [True, False])
def test_format_1(tmp_path, with_cache):
    folder = shutil.copytree(GOLDEN, tmp_path / "index")
    if not with_cache:
        (folder / cache.FILE).unlink()
    kept = [n for n in range(12) if n != 3]
    near = hamming(CODES[0], CODES)
    with open_index(folder, 12, model="m") as index:
        assert index.layout == Layout(12) and index.bits == 12 and index.count == 11
        (hits,) = index.search(CODES[0], 20)
        assert list(hits) == [(f"i{n}", near[n]) for n in sorted(kept, key=lambda n: (near[n], f"i{n}"))]
        assert index.search(CODES[0], 1, where={"n": 5})[0].ids == ["i5"]
        index.add(["i3"], CODES[3:4])
    with open_index(folder) as index:
        assert index.count == 12 and index.within(CODES[3], 0)[0].ids == ["i3"]


def test_what_is_written_now_says_what_its_bits_are(tmp_path):
    open_index(tmp_path / "index", 12, look_bits=20, weight=5).close()
    with sqlite3.connect(tmp_path / "index" / store.FILE) as connection:
        info = dict(connection.execute("SELECT name, value FROM info"))
    connection.close()
    assert (info["format"], info["bits"], info["look"], info["weight"]) == (2, 12, 20, 5)
