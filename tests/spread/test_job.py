"""Encoding into shards without Ray: the same ids and codes as one call, each once, whatever was before."""

import json
import shutil
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pts3h import UserError
from pts3h.exchange import shards
from pts3h.spread.job import HERE, encode_on
from pts3h.spread.tables import Columns
from tests.pictures import write_pictures
from tests.spread.sources import held, picture_files, rows_of, shard_files, vectors, write_table, write_tar

KILLED = """
import os, signal, sys
from pathlib import Path
from pts3h.spread.job import encode_on

count, fsync = 0, os.fsync

def dying(file):
    global count
    count += 1
    if count == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(file)

os.fsync = dying
encode_on("here", *sys.argv[1:4], size=20)
"""


@pytest.fixture
def rows(tmp_path):
    """230 vectors in a file, and the file."""
    np.save(tmp_path / "v.npy", vectors())
    return vectors(), tmp_path / "v.npy"


def test_vectors_equal_one_call(tmp_path, vector_model, rows):
    folder, model = vector_model
    done = encode_on(HERE, folder, rows[1], tmp_path / "out", size=100)
    assert (done.items, done.encoded, done.shards, done.skipped) == (230, 230, 3, {})
    assert done.layout == model.layout
    encoded = model.encode(rows[0])
    assert held(tmp_path / "out") == (encoded.ids, rows_of(encoded.codes))


@pytest.mark.parametrize(
    "kind", [None, pa.list_(pa.float32(), 6), pa.large_list(pa.float64()), pa.list_(pa.float16())]
)
def test_tables_of_vectors(tmp_path, vector_model, kind):
    folder, model = vector_model
    array = vectors(120).astype(np.float16)
    write_table(tmp_path / "t" / "a.parquet", [*range(70)], list(array[:70]), kind=kind)
    write_table(tmp_path / "t" / "b.parquet", [*range(-50, 0)], list(array[70:]), kind=kind)
    encode_on(HERE, folder, tmp_path / "t", tmp_path / "out", size=40)
    expected = model.encode(array.astype(np.float32))
    assert held(tmp_path / "out") == ([*range(70), *range(-50, 0)], rows_of(expected.codes))


@pytest.mark.parametrize("kind", ["folder", "bytes", "structs", "tar"])
def test_pictures_of_every_kind_equal_one_call(tmp_path, picture_model, kind):
    folder, model = picture_model
    files = picture_files(30)
    files["011"], files["025"] = b"no picture", files["025"][:60]
    (tmp_path / "photos").mkdir()
    for name, content in files.items():
        (tmp_path / "photos" / f"{name}.png").write_bytes(content)
    plain, contents, source = [f"x/{name}" for name in files], [*files.values()], tmp_path / kind
    match kind:
        case "folder":
            source, plain = tmp_path / "photos", [f"{name}.png" for name in files]
        case "bytes":
            write_table(source / "a.parquet", plain, contents, name="jpg", group=8)
        case "structs":
            beside = [{"bytes": content, "path": "a.png"} for content in contents]
            write_table(source / "a.parquet", plain, beside, name="image", group=8)
        case "tar":
            for number in range(3):
                some = slice(10 * number, 10 * number + 10)
                members = {f"{n}.png": c for n, c in zip(plain[some], contents[some], strict=True)}
                write_tar(source / f"{number}.tar", members)
    done = encode_on(HERE, folder, source, tmp_path / "out", size=8)
    expected = model.encode(tmp_path / "photos")
    kept = [plain[place] for place in expected.kept]
    assert held(tmp_path / "out") == (kept, rows_of(expected.codes)) and len(kept) == done.items == 28
    assert [*done.skipped] == [plain[11], plain[25]]
    assert all(plain[place] in done.skipped[plain[place]] for place in (11, 25))


def test_run_again_encodes_what_is_missing_alone(tmp_path, vector_model, rows):
    folder, _ = vector_model
    out = tmp_path / "out"
    encode_on(HERE, folder, rows[1], out, size=50)
    whole = held(out)
    again = encode_on(HERE, folder, rows[1], out, size=50)
    assert (again.items, again.encoded) == (230, 0)
    names = shard_files(out)
    (out / names[1]).unlink()
    (out / names[3]).write_bytes((out / names[3]).read_bytes()[:-20])  # as a store may leave it
    shutil.copy(out / names[2], out / names[4])  # another part's
    untouched = {name: (out / name).stat().st_mtime_ns for name in (names[0], names[2])}
    mended = encode_on(HERE, folder, rows[1], out, size=50)
    assert (mended.items, mended.encoded) == (230, 50 + 50 + 30) and held(out) == whole
    assert untouched == {name: (out / name).stat().st_mtime_ns for name in untouched}


@pytest.mark.parametrize("moment", [2, 5, 12])  # of one fsync for the manifest, and two for each shard
def test_killed_half_way(tmp_path, vector_model, rows, moment):
    folder, model = vector_model
    out = tmp_path / "out"
    words = [sys.executable, "-c", KILLED, *map(str, (folder, rows[1], out, moment))]
    assert subprocess.run(words).returncode == -signal.SIGKILL
    before = held(out)[0] if shard_files(out) else []
    assert len(before) < 230
    done = encode_on(HERE, folder, rows[1], out, size=20)
    assert done.encoded == 230 - len(before)
    encoded = model.encode(rows[0])
    assert held(out) == (encoded.ids, rows_of(encoded.codes))


def test_other_models_and_items_are_refused_and_nothing_is_lost(tmp_path, vector_model, rows):
    folder, model = vector_model
    out = tmp_path / "out"
    encode_on(HERE, folder, rows[1], out, size=100)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def refused(says, items=rows[1], to=out, size=100, where=HERE, **more):
        with pytest.raises(UserError, match=says):
            encode_on(where, folder, items, to, size=size, **more)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before

    refused(f"by the teacher of model {model.fingerprint}, not .* by the student", network="student")
    refused("begun with other items.*divided otherwise", size=99)
    np.save(tmp_path / "w.npy", vectors(230, seed=2))
    refused("begun with other items", items=tmp_path / "w.npy")
    refused("model of vectors|no folder of shards|not empty", to=tmp_path)
    refused("cannot encode on 'spark': it is here, ray", where="spark")
    refused("'here' is one worker", workers=2)
    write_pictures(tmp_path / "photos", 3)
    refused("encodes vectors of 6 numbers, and these items are pictures", items=tmp_path / "photos")
    (out / shards.MANIFEST).write_text("{")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    refused("cannot be read as a manifest")


def test_a_part_that_cannot_be_read_stops_no_other_and_may_be_mended(tmp_path, picture_model):
    folder, _ = picture_model
    files = {f"{name}.png": content for name, content in picture_files(9).items()}
    for number in range(3):
        write_tar(tmp_path / "t" / f"{number}.tar", dict([*files.items()][3 * number : 3 * number + 3]))
    whole = (tmp_path / "t" / "1.tar").read_bytes()
    (tmp_path / "t" / "1.tar").write_bytes(whole[:900])
    with pytest.raises(UserError, match=r"1.tar cannot be read as a tar .*\(1 of 3 parts cannot be encoded"):
        encode_on(HERE, folder, tmp_path / "t", tmp_path / "out")
    assert shard_files(tmp_path / "out") == ["part-000000.parquet", "part-000002.parquet"]
    (tmp_path / "t" / "1.tar").write_bytes(whole)
    assert encode_on(HERE, folder, tmp_path / "t", tmp_path / "out").encoded == 3
    assert held(tmp_path / "out")[0] == [name.removesuffix(".png") for name in files]
    (tmp_path / "t" / "2.tar").write_bytes(whole)
    with pytest.raises(UserError, match="have changed since"):
        encode_on(HERE, folder, tmp_path / "t", tmp_path / "out")


def test_what_cannot_be_encoded_is_said_by_name(tmp_path, vector_model, picture_model):
    def refused(name, says, model=vector_model):
        with pytest.raises(UserError, match=says):
            encode_on(HERE, model[0], tmp_path / name, tmp_path / f"out {name}")

    array = vectors(4)
    write_table(tmp_path / "twice.parquet", ["a", "b", "a", "c"], array.tolist())
    refused("twice.parquet", "the id 'a' is twice in .*twice.parquet")
    write_table(tmp_path / "null.parquet", ["a", None], array[:2].tolist())
    refused("null.parquet", "rows without an id")
    write_table(tmp_path / "ragged.parquet", ["a", "b"], [[1.0] * 4, [1.0] * 8])
    refused("ragged.parquet", "vectors of different lengths")
    write_table(tmp_path / "hole.parquet", ["a", "b"], [[1.0] * 6, None])
    refused("hole.parquet", "rows without a vector")
    write_table(tmp_path / "narrow.parquet", ["a"], [[1.0] * 5])
    refused("narrow.parquet", "vectors of 6 numbers, these have 5")
    array[2, 3] = np.nan
    write_table(tmp_path / "nan.parquet", [*"abcd"], array.tolist())
    refused("nan.parquet", "nan.parquet, from the id 'a' on: row 2 of the vectors holds NaN")
    write_tar(tmp_path / "bad.tar", {"a.png": b"", "b.jpg": b"x"})
    refused("bad.tar", "none of the 2 pictures can be read, the first: a: ", picture_model)
    refused("bad.tar", "these items are pictures")


def test_columns_can_be_named(tmp_path, vector_model):
    folder, model = vector_model
    array = vectors(20)
    table = pa.table(
        {"key": [f"k{n}" for n in range(20)], "old": (array * 0).tolist(), "new": array.tolist()}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(UserError, match="several columns of items: choose one with --column"):
        encode_on(HERE, folder, tmp_path / "t.parquet", tmp_path / "out", columns=Columns("key"))
    encode_on(HERE, folder, tmp_path / "t.parquet", tmp_path / "out", columns=Columns("key", "new"))
    assert held(tmp_path / "out") == (table["key"].to_pylist(), rows_of(model.encode(array).codes))


def test_a_shard_says_what_its_codes_are(tmp_path, vector_model, rows):
    folder, model = vector_model
    encode_on(HERE, folder, rows[1], tmp_path / "out", size=100)
    said = json.loads(pq.read_schema(tmp_path / "out" / "part-000001.parquet").metadata[b"pts3h"])
    assert (said["bits"], said["look_bits"], said["model"]) == (12, 4, model.fingerprint)


def test_items_and_shards_in_a_store(tmp_path, picture_model):
    """In memory of this process, by fsspec, as any address is."""
    import fsspec

    folder, model = picture_model
    files, store = picture_files(12), fsspec.filesystem("memory")
    (tmp_path / "photos").mkdir()
    for name, content in files.items():
        (tmp_path / "photos" / f"{name}.png").write_bytes(content)
        store.pipe_file(f"/bucket/photos/{name}.png", content)
    store.pipe_file("/bucket/photos/004.png", b"no picture")
    try:
        done = encode_on(HERE, folder, "memory://bucket/photos", "memory://bucket/codes", size=5)
        again = encode_on(HERE, folder, "memory://bucket/photos", "memory://bucket/codes", size=5)
        assert (done.items, done.encoded, again.items, again.encoded) == (11, 11, 11, 0)
        assert "memory://bucket/photos/004.png: no picture" in done.skipped["004.png"]
        store.get("/bucket/codes/", str(tmp_path / "out"), recursive=True)
        store.pipe_file("/bucket/photos/007.png", files["003"])
        with pytest.raises(UserError, match="have changed since"):
            encode_on(HERE, folder, "memory://bucket/photos", "memory://bucket/codes", size=5)
    finally:
        store.rm("/bucket", recursive=True)
    expected = model.encode(tmp_path / "photos")
    wanted = dict(zip(expected.ids, rows_of(expected.codes), strict=True))
    wanted.pop("004.png")
    assert dict(zip(*held(tmp_path / "out"), strict=True)) == wanted
