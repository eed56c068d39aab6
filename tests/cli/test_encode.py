"""pts3h encode: codes and ids beside them."""

import json
from pathlib import Path

import numpy as np
import pytest

import pts3h
from tests.cli.commands import PHOTOS, QUICK

SHOW_SKIPPED = pytest.mark.filterwarnings("default::pts3h.errors.SkippedWarning")


def test_variant_s_is_the_students_codes(here, run, kinds):
    run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 64, "--out", "model", *QUICK)
    assert run("encode", "model", "vectors.npy", "-o", "s.npy", "--network", "student").code == 0
    expected = pts3h.Hasher.load("model").encode("vectors.npy", network="student")
    np.testing.assert_array_equal(np.load("s.npy"), expected)


@SHOW_SKIPPED
def test_skipped_counted_and_named(here, run, kinds):
    (here / "photos" / "07.png").write_text("no picture")
    (here / "photos" / "09.png").write_bytes((here / "photos" / "09.png").read_bytes()[:100])
    fit = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS)
    assert fit.code == 0 and "2 of 60 pictures cannot be read and are skipped" in fit.err
    assert "skipped 07.png" in fit.err and "skipped 09.png" in fit.err and "Traceback" not in fit.err
    encode = run("encode", "model", "photos", "--out", "codes.npy")
    assert encode.code == 0 and "07.png" in encode.err and "09.png" in encode.err
    assert "58 codes of 8 bits" in encode.err and np.load("codes.npy").shape == (58, 1)
    names = Path("codes.ids.txt").read_text().split()
    assert len(names) == 58 and "07.png" not in names
    as_json = run("encode", "model", "photos", "--out", "codes.npy", "--overwrite", "--json")
    assert set(as_json.json["skipped"]) == {"07.png", "09.png"} and as_json.json["items"] == 58


def test_ids_are_a_line_each_whatever_they_are(here, run, kinds):
    assert run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS).code == 0
    odd = ["a\nb.png", "c\r.png", "d\u2028e.png", '"quoted".png', "ä b.png"]
    for number, name in enumerate(odd):
        (here / "photos" / f"{number:02}.png").rename(here / "photos" / name)
    assert run("encode", "model", "photos", "--out", "codes.npy").code == 0
    lines = Path("codes.ids.txt").read_bytes().decode().splitlines()
    names = [json.loads(line) if line.startswith('"') else line for line in lines]
    assert len(lines) == len(np.load("codes.npy")) == 60
    assert sorted(names) == sorted(path.name for path in (here / "photos").iterdir())
    assert "ä b.png" in lines and "07.png" in lines


def test_all_that_are_to_be_coded(here, run, kinds):
    settings = ["--bits", 8, "--out", "model", "--backbone", "small", "--image-size", 32, *QUICK]
    assert run("fit", "photos", "--pairs", "pairs.csv", *settings).code == 0
    for path in (here / "photos").iterdir():
        path.write_text("no picture")
    done = run("encode", "model", "photos", "--out", "codes.npy")
    assert done.code == 2 and "none of the 60 pictures can be read, the first: photos/00.png" in done.err
    assert not Path("codes.npy").exists()


def test_encoding(here, refused, run):
    run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 8, "--out", "model", *QUICK)
    encode = ("encode", "model", "vectors.npy", "--out")
    np.save("narrow.npy", np.load("vectors.npy")[:, :5])
    refused("encode", "model", "narrow.npy", "--out", "c.npy", says="vectors of 8 numbers, these have 5")
    refused("encode", "model", "photos", "--out", "c.npy", says="these items are pictures")
    refused("encode", "nowhere", "vectors.npy", "--out", "c.npy", says="nowhere is not a model folder")
    refused("encode", "photos", "vectors.npy", "--out", "c.npy", says="photos is not a model folder")
    refused(*encode, "c.npy", "--network", "both", says="'both' is not one of 'teacher', 'student'")
    refused(*encode, "kinds.npy", says="kinds.npy exists")
    Path("c.ids.txt").write_text("mine")
    refused(*encode, "c.npy", says="c.ids.txt exists")
    refused(*encode, "photos", "--overwrite", says="photos")
    weights = Path("model/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-100])
    refused(*encode, "new.npy", says="model cannot be read as a model")
