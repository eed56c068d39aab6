"""Indexes that this and earlier versions wrote open, and hold what they held.

``golden/format-1`` is a folder as it was written before codes could have two parts: twelve text ids with
codes of 12 bits, of which ``i3`` was removed again. ``golden/format-2`` and ``golden/format-3``, which has
checksums and cuts long text, are of integer ids with codes of 12 + 20 bits, of which 3 was removed and 4 was
written again.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

from pts3h.codes import Layout, distances, hamming
from pts3h.errors import UserError
from pts3h.index import open_index
from pts3h.index.local import cache

from .saved import cache_of, change, info_of

GOLDEN = Path(__file__).parent / "golden"
TWO_PARTS = Layout(12, 20, 5)


def golden(tmp_path, number, with_cache=True):
    folder = shutil.copytree(GOLDEN / f"format-{number}", tmp_path / "index")
    assert info_of(folder)["format"] == number
    if not with_cache:
        (folder / cache.FILE).unlink()
    return folder, np.load(folder / "codes.npy")


@pytest.mark.parametrize("with_cache", [True, False])
def test_format_1(tmp_path, with_cache):
    folder, codes = golden(tmp_path, 1, with_cache)
    kept = [n for n in range(12) if n != 3]
    near = hamming(codes[0], codes)
    with open_index(folder, 12, model="m") as index:
        assert index.layout == Layout(12) and index.bits == 12 and index.count == 11
        (hits,) = index.search(codes[0], 20)
        assert list(hits) == [(f"i{n}", near[n]) for n in sorted(kept, key=lambda n: (near[n], f"i{n}"))]
        assert index.search(codes[0], 1, where={"n": 5})[0].ids == ["i5"]
        index.add(["i3"], codes[3:4])
    with open_index(folder) as index:
        assert index.count == 12 and index.within(codes[3], 0)[0].ids == ["i3"]


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("with_cache", [True, False])
@pytest.mark.parametrize("number", [2, 3])
def test_formats_2_and_3(tmp_path, number, with_cache, read_only):
    folder, codes = golden(tmp_path, number, with_cache)
    kept = [n for n in range(12) if n != 3]
    near = distances(codes[0], codes, TWO_PARTS)
    with open_index(folder, 12, look_bits=20, weight=5, model="m", read_only=read_only) as index:
        (hits,) = index.search(codes[0], 20)
        assert list(hits) == [(n, near[n]) for n in sorted(kept, key=lambda n: (near[n], n))]
        assert index.get([3, 4, 11])[1].meta == {"n": 40, "text": "new"}
        assert index.get([11])[0].meta == {"n": 11, "text": "x" * 440, "deep": {"list": [11, None]}}
        everything = index.layout.largest
        for where, expected in [
            ({"n": {"in": [5, 40, 3]}}, [4, 5]),
            ({"text": "x" * 440}, [11]),
            ({"text": {">": "x" * 400}}, [11]),
            ({"text": {"<": "x" * 60}}, [0, 1, 4]),
        ]:
            assert sorted(index.within(codes[0], everything, where)[0].ids) == expected
        if not read_only:
            long = [{"text": "y" * 1000}, {"n": 1}]
            index.add([3, 11], codes[[3, 11]], long)
            assert index.within(codes[0], everything, {"text": {">=": "y" * 999}})[0].ids == [3]
            assert index.within(codes[0], everything, {"text": "x" * 440})[0].ids == []
    assert info_of(folder)["format"] == number


def test_the_search_structure_of_format_3_is_read(tmp_path):
    folder, _ = golden(tmp_path, 3)
    segment, _ = cache_of(folder, TWO_PARTS)
    assert list(segment.ids.all()) == [n for n in range(12) if n != 3]


def test_a_bit_that_flips_in_the_metadata_of_format_3_is_noticed(tmp_path):
    folder, _ = golden(tmp_path, 3)
    change(folder, "UPDATE meta SET json = replace(json, '11', '12') WHERE id = 11")
    with open_index(folder) as index:
        assert index.get([10])[0].meta["n"] == 10
        with pytest.raises(UserError, match="damaged"):
            index.get([11])


def test_what_is_written_now_says_what_its_bits_are(tmp_path):
    open_index(tmp_path / "index", 12, look_bits=20, weight=5).close()
    info = info_of(tmp_path / "index")
    assert (info["format"], info["bits"], info["look"], info["weight"]) == (3, 12, 20, 5)
