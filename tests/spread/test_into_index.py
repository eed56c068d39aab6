"""Shards into an index: what `pts3h index` makes of the same items, in any engine."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from pts3h import SkippedWarning, UserError, open_index
from pts3h.exchange.shards import read_shards
from pts3h.spread.into_index import check_model, index_shards
from pts3h.spread.job import HERE, encode_on
from pts3h.util.places import Place
from tests.spread.sources import vectors, write_table


@pytest.fixture
def spread(tmp_path, vector_model):
    """Encode vectors under ids into parts, and read the shards."""

    def make(ids, array, name="out"):
        for number, start in enumerate(range(0, len(ids), 40)):
            some = slice(start, start + 40)
            write_table(tmp_path / f"{name} in" / f"{number}.parquet", ids[some], array[some].tolist())
        encode_on(HERE, vector_model[0], tmp_path / f"{name} in", tmp_path / name, size=40)
        return read_shards(Place(tmp_path / name))

    return make


@pytest.fixture
def index(tmp_path, vector_model):
    layout = vector_model[1].layout
    with open_index(
        tmp_path / "an.index",
        layout.meaning,
        look_bits=layout.look,
        weight=layout.weight,
        model=vector_model[1].fingerprint,
    ) as index:
        yield index


def held(index):
    return {one: code.tobytes() for ids, codes in index.scan() for one, code in zip(ids, codes, strict=True)}


@pytest.mark.parametrize("ids", [[*range(90)], [f"item {n}" for n in range(90)]])
def test_all_codes_are_in(spread, index, vector_model, ids):
    done = index_shards(spread(ids, vectors(90)), index)
    assert (done.added, done.changed, done.unchanged, done.removed) == (90, 0, 0, 0)
    codes = vector_model[1].encode(vectors(90)).codes
    assert held(index) == {one: code.tobytes() for one, code in zip(ids, codes, strict=True)}


def test_again_only_what_is_new_or_changed_is_written(spread, index, vector_model):
    array = vectors(90)
    index_shards(spread([*range(90)], array), index)
    later, codes = array.copy(), vector_model[1].encode(array).codes
    later[3] = -later[3]
    changed = int((vector_model[1].encode(later).codes[3] != codes[3]).any())
    assert changed  # else it would test nothing
    done = index_shards(
        spread([*range(5, 90), *range(100, 105), 3], later[[*range(5, 90), *range(5), 3]], "b"), index
    )
    assert (done.added, done.changed, done.unchanged, done.removed) == (5, 1, 85, 0) and index.count == 95
    done = index_shards(spread([*range(50)], array[:50], "c"), index, prune=True)
    assert (done.added, done.changed, done.unchanged, done.removed) == (0, 1, 49, 45)
    assert held(index) == {one: code.tobytes() for one, code in enumerate(codes[:50])}


def test_one_id_in_two_shards_is_told(spread, index):
    with pytest.warns(SkippedWarning, match="10 ids are in more than one shard"):
        done = index_shards(spread([*range(40), *range(10)], vectors(50)), index)
    assert done.added == index.count == 40


def test_an_incomplete_set_and_another_model_are_refused(tmp_path, spread):
    spread([*range(90)], vectors(90))
    with pytest.raises(UserError, match=r"are codes of model .*, not of model 1234"):
        check_model(read_shards(Place(tmp_path / "out")), "1234")
    (tmp_path / "out" / "part-000001.parquet").rename(tmp_path / "away")
    with pytest.raises(
        UserError, match=r"1 of 3 shards are missing in .*, the first is part-000001.parquet: run"
    ):
        read_shards(Place(tmp_path / "out"))
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(
        UserError, match=r"has no manifest.json: give the folder that pts3h encode --on wrote"
    ):
        read_shards(Place(tmp_path / "out"))


def test_a_shard_that_is_damaged_inside_is_refused(tmp_path, spread, index):
    spread([*range(90)], vectors(90))
    shard = tmp_path / "out" / "part-000001.parquet"
    content, codes = bytearray(shard.read_bytes()), pq.read_metadata(shard).row_group(0).column(1)
    content[codes.data_page_offset + codes.total_compressed_size - 5] ^= 1  # its footer is whole
    shard.write_bytes(content)
    with pytest.raises(UserError, match=r"part-000001\.parquet cannot be read as Parquet"):
        index_shards(read_shards(Place(tmp_path / "out")), index)
    assert index.count == 40 and np.all([one < 40 for one in held(index)])
