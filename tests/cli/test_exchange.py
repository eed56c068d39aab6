"""pts3h export and pts3h import: an index into a file, a file into an index."""

import json
from pathlib import Path

import numpy as np
import pytest

import pts3h
from tests.cli.commands import FIT_VECTORS, tree
from tests.exchange.collections import HOLD_META, SUFFIXES, contents, without_meta


@pytest.fixture
def indexed(here, run, kinds):
    """A model of 12 + 4 bits and an index that it made, with metadata."""
    assert run(*FIT_VECTORS, "--bits", 12, "--look-bits", 4).code == 0
    Path("meta.csv").write_text("id,colour\n" + "".join(f"{n},red\n" for n in range(0, 60, 2)))
    assert run("index", "model", "vectors.npy", "--to", "a.index", "--meta", "meta.csv").code == 0
    return "a.index"


@pytest.mark.parametrize("name", SUFFIXES)
def test_there_and_back_and_searched(run, indexed, name):
    file = f"codes{SUFFIXES[name]}"
    out = run("export", indexed, "--to", file)
    without = "" if name in HOLD_META else f"; {name} holds no metadata"
    assert (out.code, out.out, out.err) == (0, "", f"60 codes of 12 + 4 bits are in {file}{without}\n")
    back = run("import", file, "--to", "b.index")
    said = f"60 codes of 12 + 4 bits are read from {file}; b.index holds 60 items\n"
    assert (back.code, back.out, back.err) == (0, "", said)
    held = contents(indexed)
    assert contents("b.index") == (held if name in HOLD_META else without_meta(held))
    first, second = (
        run("search", index, "vectors.npy", "-k", 3, "--json").json for index in (indexed, "b.index")
    )
    assert [[(hit["id"], hit["distance"]) for hit in one["hits"]] for one in first] == [
        [(hit["id"], hit["distance"]) for hit in one["hits"]] for one in second
    ]  # the fingerprint went with the codes, so that the model is found


def test_for_programs(run, indexed):
    out = run("export", indexed, "--to", "codes", "--format", "parquet", "--json")
    with pts3h.open_index(indexed) as index:
        about = {"bits": 12, "look_bits": 4, "weight": 3, "bit_order": "big", "model": index.model}
    told = {"file": "codes", "format": "parquet", "items": 60, "with_meta": True, "ids": "text", **about}
    assert out.json == told and out.err == ""
    back = run("import", "codes", "--to", "b.index", "--format", "parquet", "--json")
    told = {"index": "b.index", "format": "parquet", "items": 60, "count": 60}
    assert back.json == {**told, "bits": 12, "look_bits": 4, "weight": 3}


def test_what_encode_wrote(run, indexed):
    assert run("encode", "model", "vectors.npy", "--out", "codes.npy").code == 0
    assert run("import", "codes.npy", "--to", "b.index").code == 0
    assert contents("b.index") == without_meta(contents(indexed))


def test_codes_of_the_student_are_not_those_of_the_model(run, indexed):
    assert run("encode", "model", "vectors.npy", "--out", "s.npy", "--network", "student").code == 0
    assert json.loads(Path("s.about.json").read_text())["model"] is None


def test_codes_of_others(here, run):
    embeddings = np.random.default_rng(0).normal(size=(9, 384))
    np.save("ubinary.npy", np.packbits(embeddings > 0, axis=1))
    Path("ubinary.ids.txt").write_text("".join(f"doc {n}\n" for n in range(9)))
    assert "give --bits" in run("import", "ubinary.npy", "--to", "docs.index").err
    assert run("import", "ubinary.npy", "--to", "docs.index", "--bits", 384).code == 0
    with pts3h.open_index("docs.index") as index:
        assert index.search(np.load("ubinary.npy")[4], k=1)[0].ids == ["doc 4"]


def test_mistakes(here, run, indexed, refused):
    assert run("export", indexed, "--to", "there.npy").code == 0
    refused("export", "no.index", "--to", "a.npy", says="there is no index no.index")
    refused("export", indexed, "--to", "there.npy", says="there.npy exists")
    refused("export", indexed, "--to", "codes.csv", says="does not say its format")
    refused("export", indexed, "--to", "codes", "--format", "csv", says="there is no format 'csv'")
    refused("import", "no.npy", "--to", "b.index", says="there is no file no.npy")
    refused("import", "there.npy", "--to", "b.index", "--bits", 11, says="leave --bits out")
    before = {name: content for name, content in tree(here).items() if not name.startswith(indexed)}
    done = run("import", "there.npy", "--to", indexed)
    assert done.code == 2 and "a.index holds 60 items already" in done.err
    after = {name: content for name, content in tree(here).items() if not name.startswith(indexed)}
    assert after == before
    assert run("import", "there.npy", "--to", indexed, "--overwrite").code == 0
