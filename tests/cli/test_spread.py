"""pts3h encode --on and pts3h index --from: shards on the way, the same index in the end."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import FIT_VECTORS, QUICK
from tests.exchange.collections import contents
from tests.spread.sources import held, vectors, write_table


@pytest.fixture
def fitted(here, run, kinds):
    """A model in model/, with look bits."""
    assert run(*FIT_VECTORS, "--bits", 10, "--look-bits", 6).code == 0


ENCODE = ("encode", "model", "vectors.npy", "--out", "codes", "--on", "here", "--part-size", 25)


def test_shards_make_the_index_that_items_make(run, fitted):
    first = run(*ENCODE)
    assert first.code == 0 and first.err.endswith("60 codes of 10 + 6 bits are in 3 shards in codes\n")
    again = run(*ENCODE)
    assert again.err.endswith(
        "60 codes of 10 + 6 bits are in 3 shards in codes, 60 of them by an earlier run\n"
    )
    done = run("index", "--from", "codes", "--to", "a.index")
    assert (done.code, done.err) == (
        0,
        "60 added, 0 changed, 0 unchanged, 0 removed; a.index holds 60 items\n",
    )
    assert run("index", "model", "vectors.npy", "--to", "b.index").code == 0
    assert contents("a.index") == contents("b.index")
    back = run("index", "model", "vectors.npy", "--to", "a.index", "--json").json
    assert (back["unchanged"], back["count"]) == (60, 60)  # it knows them by the stamps of their content
    assert run("index", "model", "--from", "codes", "--to", "a.index", "--json").json["unchanged"] == 60
    assert run("search", "a.index", "vectors.npy", "-k", 1, "--json").code == 0  # the model is known


@pytest.mark.filterwarnings("default::pts3h.errors.SkippedWarning")
def test_pictures_too(run, here, kinds):
    (here / "photos" / "07.png").write_text("no picture")
    settings = ["--bits", 8, "--out", "model", "--backbone", "small", "--image-size", 32, *QUICK]
    assert run("fit", "photos", "--pairs", "pairs.csv", *settings).code == 0
    done = run(
        "encode", "model", "photos", "--out", "codes", "--on", "here", "--part-size", 16, "--json"
    ).json
    told = {"codes": "codes", "items": 59, "encoded": 59, "shards": 4, "bits": 8}
    assert {name: done[name] for name in told} == told and [*done["skipped"]] == ["07.png"]
    assert run("index", "--from", "codes", "--to", "a.index").code == 0
    run("index", "model", "photos", "--to", "b.index")
    assert contents("a.index") == contents("b.index")


def test_each_shard_can_be_imported_alone(run, fitted):
    run(*ENCODE)
    assert run("import", "codes/part-000001.parquet", "--to", "a.index").code == 0
    ids, codes = held(Path("codes"))
    _, _, items = contents("a.index")
    assert {one: code for one, (code, _) in items.items()} == {
        repr(one): code for one, code in zip(ids[25:50], codes[25:50], strict=True)
    }


def test_mistakes(run, here, fitted, refused):
    codes = ("encode", "model", "vectors.npy", "--out", "c.npy")
    refused(*codes, "--workers", 2, says="--workers needs --on")
    refused(*codes, "--column", "v", says="--column needs --on")
    refused(*codes, "--on", "spark", says="cannot encode on 'spark'")
    refused(*codes, "--on", "here", "--overwrite", says="--overwrite is for an .npy")
    refused(*codes, "--on", "here", "--part-size", 0, says="Invalid value for '--part-size': 0")
    refused("encode", "model", "none", "--out", "c", "--on", "here", says="none does not exist")
    refused("encode", "model", "photos", "--out", "c", "--on", "here", says="these items are pictures")
    refused("encode", "model", "vectors.npy", "--out", "photos", "--on", "here", says="photos is not empty")
    refused("index", "--to", "a.index", says="name the model and the items, or shards of codes with --from")
    refused("index", "model", "--to", "a.index", says="name the model and the items")
    refused("index", "--from", "photos", "--to", "a.index", says="photos has no manifest.json")
    refused("index", "--from", "none", "--to", "a.index", says="none has no manifest.json")
    refused("index", "model", "vectors.npy", "--from", "c", "--to", "a.index", says="leave out the items")
    assert run(*ENCODE).code == 0
    np.save("vectors.npy", np.load("vectors.npy")[:, ::-1])
    refused(*ENCODE, says="codes was begun with other items")
    assert (
        run(
            "fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 10, "--steps", 3, "--out", "other"
        ).code
        == 0
    )
    refused("index", "other", "--from", "codes", "--to", "a.index", says="name the model that made them")
    Path("codes/part-000002.parquet").unlink()
    refused("index", "--from", "codes", "--to", "a.index", says="1 of 3 shards are missing in codes")


def test_parquet_with_names_of_ones_own(run, here, fitted):
    write_table(here / "t.parquet", [*range(60)], np.load("vectors.npy").tolist(), name="v")
    run(
        "encode", "model", "t.parquet", "--out", "codes", "--on", "here", "--column", "v", "--id-column", "id"
    )
    run(*ENCODE[:3], "--out", "plain", "--on", "here")
    assert held(here / "codes") == ([*range(60)], held(here / "plain")[1])


def test_no_command_imports_ray_but_the_one_that_uses_it(here):
    np.save("v.npy", vectors(3))
    program = (
        "import sys, pts3h.cli.app as a\ntry: a.main()\nfinally: print('ray' in sys.modules, file=sys.stderr)"
    )
    for words in (
        ["encode", "--help"],
        ["index", "--help"],
        ["encode", "m", "v.npy", "-o", "c", "--on", "here"],
    ):
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
        assert done.stderr.splitlines()[-1] == "False"
