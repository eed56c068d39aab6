"""pts3h fit: from pictures or vectors and a few pairs to a model."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pts3h
from tests.cli.commands import FIT_PHOTOS, PHOTOS, PROGRAM, QUICK, write_pairs
from tests.pictures import write_pictures

SHOW_SKIPPED = pytest.mark.filterwarnings("default::pts3h.errors.SkippedWarning")


def test_a_folder_of_photos_and_200_pairs(here, kinds):
    """The command of the README, as it stands, in a process of its own; no label is anywhere."""
    command = "fit photos/ --pairs pairs.csv --bits 64 --out model/ --steps 150 --image-size 32"
    done = subprocess.run([PROGRAM, *command.split()], capture_output=True, text=True, cwd=here)
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "trained on 60 items, 60 of them in known pairs; the model is in model"
    assert re.fullmatch(
        r"Of all other pairs, \d+% were taken for alike, as the known ones suggest\.", lines[1]
    )
    assert lines[2].startswith(
        "On 20 known pairs that were kept back: an alike pair is nearer than another in "
    )
    assert re.fullmatch(r"\d+ distinct codes for 60 items; the commonest stands for \d+\.", lines[3])
    assert lines[4].startswith("Many items share a code")  # three kinds of pictures, and nothing else in them
    assert lines[5:] == ["look at model/report.html"]
    assert {path.name for path in (here / "model").iterdir()} == {
        "config.json",
        "model.safetensors",
        "history.jsonl",
        "README.md",
        "report.html",
    }
    codes = pts3h.Hasher.load("model").encode("photos")
    assert codes.shape == (60, 8)
    assert pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=64).map > 0.95


def test_class_folders(here, run):
    for name in ("cats", "dogs"):
        write_pictures(here / "animals" / name, 6)
    done = run("fit", "animals", "--labels", "folder", "--bits", 8, "--out", "model", *PHOTOS, "--json")
    assert done.code == 0 and done.json["labelled_items"] == 12


def test_validation_says_what_it_tried(here, run, kinds):
    done = run(
        "fit",
        "vectors.npy",
        "--pairs",
        "positions.csv",
        "--bits",
        8,
        "--out",
        "model",
        *QUICK,
        "--validation",
        0.2,
        "--grid",
        "omega=0.3,0.6",
    )
    assert done.code == 0 and "tried omega=0.3: " in done.err and "tried omega=0.6: " in done.err


@SHOW_SKIPPED
def test_skipped_pictures_are_named_and_do_not_count(here, run, kinds):
    (here / "photos" / "07.png").write_text("no picture")
    done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS, "--json")
    assert done.json["skipped_items"] == ["07.png"] and done.json["skipped"] == 1
    done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "other", *PHOTOS)
    assert "trained on 59 items" in done.err


def test_no_picture_can_be_read(here, run, kinds):
    for path in (here / "photos").iterdir():
        path.write_text("no picture")
    done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS)
    assert done.code == 2 and "none of the 60 pictures can be read" in done.err


def test_no_pairs(here, refused):
    refused(*FIT_PHOTOS, "--neighbours", 0, says="nothing is known of any pair, and neighbours do not teach")
    refused(*FIT_PHOTOS, "--pairs", "nowhere.csv", says="there is no pairs file nowhere.csv")
    Path("empty.csv").write_text("a,b,similar\n")
    refused(*FIT_PHOTOS, "--pairs", "empty.csv", says="empty.csv holds no pairs")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (None, "No pair is known: it learned from neighbours alone."),
        ([(0, 1, 1), (2, 3, 1)], "All 2 pairs are alike: of all other pairs, 10% were taken for alike."),
        ([(0, 1, 0), (2, 3, 0)], "All 2 pairs are not alike: of all other pairs, 10% were taken for alike."),
    ],
)
def test_what_is_not_known_is_assumed_and_said(here, run, kinds, rows, says):
    if rows is not None:
        write_pairs(here / "few.csv", rows)
    pairs = [] if rows is None else ["--pairs", "few.csv"]
    done = run("fit", "photos", *pairs, "--bits", 8, "--out", "model", *PHOTOS)
    assert done.code == 0 and says in done.err
    assert "More pairs would help" in done.err


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([(0, 1, 1), (2, 3, 0), (1, 0, 0)], "bad.csv row 4 contradicts bad.csv row 2"),
        ([(0, 1, 1), (2, 2, 0)], "bad.csv row 3 pairs an item with itself"),
        ([(0, 1, 1), (2, 99, 0)], "bad.csv row 3 names '99.png', which is not among the 60 items"),
        ([(0, 1, 1), (2, 3, 7)], "bad.csv row 3 has similarity '7'"),
    ],
)
def test_pairs_that_cannot_be_meant(here, refused, rows, says):
    write_pairs(here / "bad.csv", rows)
    refused(*FIT_PHOTOS, "--pairs", "bad.csv", says=says)


def test_pairs_and_labels(refused):
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", "--labels", "folder", says="pairs or labels, not both")


def test_nan_embeddings(here, refused):
    vectors = np.load("vectors.npy")
    vectors[17, 3] = np.nan
    np.save("bad.npy", vectors)
    refused(
        "fit",
        "bad.npy",
        "--pairs",
        "positions.csv",
        "--out",
        "model",
        says="row 17 of the vectors holds NaN",
    )


def test_items_that_are_none(here, refused):
    Path("nothing").mkdir()
    refused("fit", "nothing", "--pairs", "pairs.csv", "--out", "model", says="no pictures below nothing")
    refused("fit", "nowhere", "--pairs", "pairs.csv", "--out", "model", says="nowhere does not exist")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--bits", "0"], "bits must be a whole number from 1"),
        (["--bits", "many"], "'--bits'"),
        (["--loss", "triplet"], "there is no loss 'triplet': choose from dsh, dpsh, ksh"),
        (["--omega", "-1"], "omega must be between 0"),
        (["--omga", "1"], "No such option: --omga (Possible options: --gamma, --omega)"),
        (["--omega", "much"], "Invalid value for '--omega'"),
        (["--optimizer", "adam"], "optimizer must be one of auto, sgd, adamw, got 'adam'"),
        (["--noise", "0.1", "--fine-tune"], "noise=0.1 would do nothing here"),
        (["--fixed-blocks", "8"], "fixed_blocks=8 would do nothing here: it is for fine-tuned networks"),
        (["--code-size", "4"], "code_size must be at least 8 for"),
        (["--grid", "omega=a,b"], "--grid takes NAME=number,number,..."),
        (["--backbone", "resnet50"], "there is no backbone 'resnet50'"),
        (["--image-size", "0"], "image_size must be at least 8"),
        (["--epochs", "3"], "steps or epochs, not both"),
        (["--device", "tpu"], "there is no device 'tpu' here"),
    ],
)
def test_settings(here, refused, options, says):
    Path("model").mkdir()  # taken before the backbone is made
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", *options, says=says)


def test_an_output_folder_that_exists(here, refused, run):
    (here / "model").mkdir()
    (here / "model" / "letter.txt").write_text("mine")
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", says="exists and is not empty")
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", "--resume", says="no run to resume")
    refused("fit", "photos", "--pairs", "pairs.csv", "--out", "pairs.csv", says="pairs.csv is a file")


def test_an_output_folder_that_may_not_be_written(here, refused, monkeypatch):
    Path("model").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", says="cannot write into model: choose another folder")


def test_a_finished_model(here, refused, run):
    fit = ("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", "8", "--out", "model", *QUICK)
    assert run(*fit).code == 0
    refused(*fit, says="already holds a finished model")
    refused(*fit, "--overwrite", "--bits", "0", says="bits must be")
    for path in (here / "photos").iterdir():
        path.write_text("no picture")
    refused(*FIT_PHOTOS, "--pairs", "pairs.csv", "--overwrite", says="none of the 60 pictures can be read")
    assert run(*fit, "--overwrite", "--seed", 1).code == 0


def test_what_follows_from_pairs(here, refused, run):
    """0 - 1 - 2 are alike and 2 is not like 3: three alike and three not."""
    Path("few.csv").write_text("a,b,similar\n0,1,1\n1,2,1\n2,3,0\n")
    fit = ["fit", "vectors.npy", "--pairs", "few.csv", "--steps", "2", "--out", "model"]
    done = run(*fit, "--transitive", "--json")
    assert done.code == 0 and done.json["known_pairs"] == 6
    Path("few.csv").write_text("a,b,similar\n0,1,1\n1,2,1\n0,2,0\n")
    refused(*fit, "--overwrite", "--transitive", says="joins them: 0 - 1 - 2; correct a pair")
    labels = ["fit", "vectors.npy", "--labels", "labels.npy", "--out", "other"]
    refused(*labels, "--transitive", says="there are none: leave it out")
