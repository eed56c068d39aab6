"""The command line as people and programs use it."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pts3h
from pts3h.cli.app import main
from tests.pictures import random_pairs, write_pictures

PROGRAM = Path(sys.executable).with_name("pts3h")
QUICK = ["--steps", "5", "--set", "hidden=8", "--set", "views=1", "--image-size", "32"]
SHOW_SKIPPED = pytest.mark.filterwarnings("default::pts3h.training.preparation.SkippedWarning")


class Done:
    """What a command printed, and its exit code."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process, which spares a start of several seconds."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pts3h", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kinds(here):
    """photos/ with 60 small pictures of three kinds, vectors.npy, pairs.csv with 200 pairs of each."""
    kinds = write_pictures(here / "photos", 60)
    pairs = random_pairs(kinds, 200)
    write_pairs(here / "pairs.csv", pairs)
    np.savetxt(here / "positions.csv", pairs, "%d", ",")
    rng = np.random.default_rng(0)
    np.save(here / "vectors.npy", (np.eye(3, 8)[kinds] * 4 + rng.normal(size=(60, 8))).astype(np.float32))
    np.save(here / "kinds.npy", kinds)
    return kinds


def write_pairs(path, pairs, header="a,b,similar"):
    rows = [f"{a:02}.png,{b:02}.png,{similar}" for a, b, similar in pairs]
    path.write_text("\n".join([header, *rows]) + "\n")


def tree(folder):
    """Every file and folder below ``folder``, with its content."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


class TestOwnData:
    def test_a_folder_of_photos_and_200_pairs(self, here, kinds):
        """The command of the README, as it stands, in a process of its own; no label is anywhere."""
        command = "fit photos/ --pairs pairs.csv --bits 64 --out model/ --steps 150 --image-size 32"
        done = subprocess.run([PROGRAM, *command.split()], capture_output=True, text=True, cwd=here)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "trained on 60 items, 60 of them in known pairs; the model is in model\n"
        assert {path.name for path in (here / "model").iterdir()} == {
            "config.json",
            "model.safetensors",
            "history.jsonl",
            "README.md",
        }
        codes = pts3h.Hasher.load("model").encode("photos")
        assert codes.shape == (60, 8)
        assert pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=64).map > 0.95

    def test_embeddings_then_codes_then_figures(self, here, run, kinds):
        settings = ["--bits", 24, "--steps", 200, "--set", "hidden=16"]
        fit = run("fit", "vectors.npy", "--pairs", "positions.csv", "--out", "model", *settings, "--json")
        assert fit.code == 0 and fit.err == ""
        assert fit.json["items"] == 60 and fit.json["known_pairs"] == 200 and fit.json["skipped_items"] == []
        assert fit.json["fingerprint"] == pts3h.Hasher.load("model").fingerprint

        encode = run("encode", "model", "vectors.npy", "--out", "codes.npy", "--json")
        assert encode.json == {"codes": "codes.npy", "items": 60, "bits": 24, "skipped": {}}
        codes = np.load("codes.npy")
        np.testing.assert_array_equal(codes, pts3h.Hasher.load("model").encode("vectors.npy"))
        assert Path("codes.ids.txt").read_text().split() == [str(n) for n in range(60)]

        labels = ["--labels", "kinds.npy", "--labels", "kinds.npy"]
        evaluate = run("evaluate", "codes.npy", "codes.npy", "--bits", 24, *labels, "--map-at", 10, "--json")
        report = pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=24)
        assert evaluate.json["map"] == pytest.approx(report.map) and report.map > 0.8
        assert evaluate.json == pytest.approx(report.summary(map_at=10))
        spoken = run("evaluate", "codes.npy", "codes.npy", "--bits", 24, *labels)
        assert spoken.code == 0 and f"{report.map:.4f}" in spoken.out

    def test_relevance_as_a_matrix(self, here, run, kinds):
        codes = np.random.default_rng(0).integers(0, 256, (60, 2), np.uint8)
        np.save("codes.npy", codes)
        np.save("relevant.npy", kinds[:, None] == kinds[None, :])
        figures = run(
            "evaluate", "codes.npy", "codes.npy", "-b", 16, "--relevant", "relevant.npy", "--json"
        ).json
        assert figures["map"] == pytest.approx(
            pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=16).map
        )

    def test_class_folders(self, here, run):
        for name in ("cats", "dogs"):
            write_pictures(here / "animals" / name, 6)
        done = run("fit", "animals", "--labels", "folder", "--bits", 8, "--out", "model", *QUICK, "--json")
        assert done.code == 0 and done.json["labelled_items"] == 12

    def test_validation_says_what_it_tried(self, here, run, kinds):
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

    def test_variant_s_is_the_students_codes(self, here, run, kinds):
        run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 64, "--out", "model", *QUICK)
        assert run("encode", "model", "vectors.npy", "-o", "s.npy", "--network", "student").code == 0
        expected = pts3h.Hasher.load("model").encode("vectors.npy", network="student")
        np.testing.assert_array_equal(np.load("s.npy"), expected)


class TestBrokenPictures:
    @SHOW_SKIPPED
    def test_skipped_counted_and_named(self, here, run, kinds):
        (here / "photos" / "07.png").write_text("no picture")
        (here / "photos" / "09.png").write_bytes((here / "photos" / "09.png").read_bytes()[:100])
        fit = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *QUICK)
        assert fit.code == 0 and "2 of 60 pictures cannot be read and are skipped" in fit.err
        assert "skipped 07.png" in fit.err and "skipped 09.png" in fit.err and "Traceback" not in fit.err
        encode = run("encode", "model", "photos", "--out", "codes.npy")
        assert encode.code == 0 and "07.png" in encode.err and "09.png" in encode.err
        assert "58 codes of 8 bits" in encode.err and np.load("codes.npy").shape == (58, 1)
        names = Path("codes.ids.txt").read_text().split()
        assert len(names) == 58 and "07.png" not in names
        as_json = run("encode", "model", "photos", "--out", "codes.npy", "--overwrite", "--json")
        assert set(as_json.json["skipped"]) == {"07.png", "09.png"} and as_json.json["items"] == 58

    @SHOW_SKIPPED
    def test_as_json(self, here, run, kinds):
        (here / "photos" / "07.png").write_text("no picture")
        done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *QUICK, "--json")
        assert done.json["skipped_items"] == ["07.png"] and done.json["skipped"] == 1

    def test_all_of_them(self, here, run, kinds):
        for path in (here / "photos").iterdir():
            path.write_text("no picture")
        done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *QUICK)
        assert done.code == 2 and "none of the 60 pictures can be read" in done.err

    def test_all_that_are_to_be_coded(self, here, run, kinds):
        settings = ["--bits", 8, "--out", "model", "--backbone", "small", "--set", "freeze=true", *QUICK]
        assert run("fit", "photos", "--pairs", "pairs.csv", *settings).code == 0
        for path in (here / "photos").iterdir():
            path.write_text("no picture")
        done = run("encode", "model", "photos", "--out", "codes.npy")
        assert done.code == 2 and "none of the 60 pictures can be read, the first: photos/00.png" in done.err
        assert not Path("codes.npy").exists()


class TestMistakes:
    """One clear line, exit code 2, no traceback, and nothing is changed."""

    @pytest.fixture
    def refused(self, here, run, kinds):
        def check(*arguments, says):
            before = tree(here)
            done = run(*arguments)
            assert done.code == 2 and done.out == ""
            assert done.err.startswith("pts3h: ") and done.err.count("\n") == 1 and says in done.err
            assert tree(here) == before

        return check

    FIT = ("fit", "photos", "--out", "model", *QUICK)

    def test_no_pairs(self, here, refused):
        refused(*self.FIT, says="nothing is known of any pair")
        refused(*self.FIT, "--pairs", "nowhere.csv", says="there is no pairs file nowhere.csv")
        Path("empty.csv").write_text("a,b,similar\n")
        refused(*self.FIT, "--pairs", "empty.csv", says="empty.csv holds no pairs")

    @pytest.mark.parametrize(
        ("rows", "says"),
        [
            ([(0, 1, 1), (2, 3, 1)], "all 2 pairs are similar"),
            ([(0, 1, 0), (2, 3, 0)], "all 2 pairs are dissimilar"),
            ([(0, 1, 1), (2, 3, 0), (1, 0, 0)], "bad.csv row 4 contradicts bad.csv row 2"),
            ([(0, 1, 1), (2, 2, 0)], "bad.csv row 3 pairs an item with itself"),
            ([(0, 1, 1), (2, 99, 0)], "bad.csv row 3 names '99.png', which is not among the 60 items"),
            ([(0, 1, 1), (2, 3, 7)], "bad.csv row 3 has similarity '7'"),
        ],
    )
    def test_pairs_that_cannot_be_meant(self, here, refused, rows, says):
        write_pairs(here / "bad.csv", rows)
        refused(*self.FIT, "--pairs", "bad.csv", says=says)

    def test_pairs_and_labels(self, refused):
        refused(*self.FIT, "--pairs", "pairs.csv", "--labels", "folder", says="pairs or labels, not both")

    def test_nan_embeddings(self, here, refused):
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

    def test_items_that_are_none(self, here, refused):
        Path("nothing").mkdir()
        refused("fit", "nothing", "--pairs", "pairs.csv", "--out", "model", says="no pictures below nothing")
        refused("fit", "nowhere", "--pairs", "pairs.csv", "--out", "model", says="nowhere does not exist")

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--bits", "0"], "bits must be a whole number from 1"),
            (["--bits", "many"], "'--bits'"),
            (["--loss", "triplet"], "loss must be one of dsh, dpsh, ksh"),
            (["--omega", "-1"], "omega must be between 0"),
            (["--set", "omga=1"], "did you mean omega?"),
            (["--set", "omega"], "--set takes NAME=VALUE, got 'omega'"),
            (["--set", "omega=much"], "omega must be a number, got 'much'"),
            (["--grid", "omega=a,b"], "--grid takes NAME=number,number,..."),
            (["--backbone", "resnet50"], "there is no backbone 'resnet50'"),
            (["--image-size", "0"], "image_size must be at least 8"),
            (["--epochs", "3"], "steps or epochs, not both"),
            (["--device", "tpu"], "No such option"),
        ],
    )
    def test_settings(self, here, refused, options, says):
        Path("model").mkdir()  # taken before the backbone is made
        refused(*self.FIT, "--pairs", "pairs.csv", *options, says=says)

    def test_a_forgotten_option(self, refused):
        refused("fit", "photos", "--pairs", "pairs.csv", says="'--out'")
        refused("encode", says="Missing argument")
        refused("codify", says="No such command 'codify'")

    def test_an_output_folder_that_exists(self, here, refused, run):
        (here / "model").mkdir()
        (here / "model" / "letter.txt").write_text("mine")
        refused(*self.FIT, "--pairs", "pairs.csv", says="exists and is not empty")
        refused(*self.FIT, "--pairs", "pairs.csv", "--resume", says="no run to resume")
        refused("fit", "photos", "--pairs", "pairs.csv", "--out", "pairs.csv", says="pairs.csv is a file")

    def test_an_output_folder_that_may_not_be_written(self, here, refused, monkeypatch):
        Path("model").mkdir()
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        refused(*self.FIT, "--pairs", "pairs.csv", says="cannot write into model: choose another folder")

    def test_a_finished_model(self, here, refused, run):
        fit = ("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", "8", "--out", "model", *QUICK)
        assert run(*fit).code == 0
        refused(*fit, says="already holds a finished model")
        refused(*fit, "--overwrite", "--bits", "0", says="bits must be")
        for path in (here / "photos").iterdir():
            path.write_text("no picture")
        refused(*self.FIT, "--pairs", "pairs.csv", "--overwrite", says="none of the 60 pictures can be read")
        assert run(*fit, "--overwrite", "--seed", 1).code == 0

    def test_encoding(self, here, refused, run):
        run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 8, "--out", "model", *QUICK)
        encode = ("encode", "model", "vectors.npy", "--out")
        np.save("narrow.npy", np.load("vectors.npy")[:, :5])
        refused("encode", "model", "narrow.npy", "--out", "c.npy", says="vectors of 8 numbers, these have 5")
        refused("encode", "model", "photos", "--out", "c.npy", says="these items are pictures")
        refused("encode", "nowhere", "vectors.npy", "--out", "c.npy", says="nowhere is not a model folder")
        refused("encode", "photos", "vectors.npy", "--out", "c.npy", says="photos is not a model folder")
        refused(*encode, "c.npy", "--network", "both", says="'teacher' or 'student'")
        refused(*encode, "kinds.npy", says="kinds.npy exists")
        Path("c.ids.txt").write_text("mine")
        refused(*encode, "c.npy", says="c.ids.txt exists")
        refused(*encode, "photos", "--overwrite", says="photos")
        weights = Path("model/model.safetensors")
        weights.write_bytes(weights.read_bytes()[:-100])
        refused(*encode, "new.npy", says="model cannot be read as a model")

    def test_evaluating(self, here, refused):
        np.save("codes.npy", np.zeros((60, 2), np.uint8))
        np.save("floats.npy", np.zeros((60, 2)))
        base = ("evaluate", "codes.npy", "codes.npy", "--bits", "16")
        both = ("--labels", "kinds.npy", "--labels", "kinds.npy")
        refused(*base, "--labels", "kinds.npy", says="give --labels twice")
        refused(*base, says="labels")
        refused("evaluate", "codes.npy", "codes.npy", "--bits", "48", *both, says="48")
        refused("evaluate", "floats.npy", "codes.npy", "--bits", "16", *both, says="uint8")
        refused("evaluate", "no.npy", "codes.npy", "--bits", "16", *both, says="no.npy")
        refused(*base, *both, "--order", "random", says="order")

    def test_data_sets(self, refused):
        refused("data", "cifar100", says="there is no data set 'cifar100'")
        refused("data", "cifar10", "--from", "photos", says="there is no photos/cifar-10-binary.tar.gz")
        refused("data", "nuswide21", says="say which folder")
        refused("data", "nuswide21", "--from", "photos", says="no database.txt")


class TestFullDisk:
    def test_while_features_are_kept(self, here, run, kinds, small_disk, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
        done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *QUICK)
        assert done.code == 2 and done.err.count("\n") == 1 and "the disk is full" in done.err

    def test_while_the_model_is_written(self, here, run, kinds, small_disk):
        (small_disk / "mine.txt").write_text("mine")
        out = small_disk / "model"
        fit = ("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", "8", "--out", out, "--steps", "3")
        done = run(*fit, "--set", "hidden=4096")
        assert done.code == 2 and done.err.count("\n") == 1 and "the disk is full" in done.err
        assert (small_disk / "mine.txt").read_text() == "mine" and not list(out.iterdir())

    def test_while_codes_are_written(self, here, run, kinds, small_disk):
        run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 4096, "--out", "model", *QUICK)
        np.save("many.npy", np.tile(np.load("vectors.npy"), (5, 1)))
        done = run("encode", "model", "many.npy", "--out", small_disk / "codes.npy")
        assert done.code == 2 and "codes.npy: the disk is full" in done.err and not list(small_disk.iterdir())


class TestCtrlC:
    def test_saves_says_how_to_go_on_and_goes_on(self, here, run, kinds):
        fit = ["fit", "vectors.npy", "--pairs", "positions.csv", "--out", "model", "--steps", "400"]
        often = "from pts3h.training import loop; loop.CHECKPOINT_SECONDS = 0.01\nimport pts3h.__main__"
        running = subprocess.Popen([sys.executable, "-c", often, *fit], stderr=subprocess.PIPE, text=True)
        while not (here / "model" / "checkpoint.safetensors").exists() and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130
        assert "saved in model" in said and "--resume" in said and said.count("\n") == 1

        again = run(*fit)
        assert again.code == 2 and "go on with --resume" in again.err
        assert run(*fit, "--resume").code == 0
        steps = [json.loads(line)["step"] for line in Path("model/history.jsonl").read_text().splitlines()]
        assert steps == list(range(1, 401)) and not Path("model/checkpoint.safetensors").exists()

    def test_before_training(self, here, run, kinds, monkeypatch):
        def interrupted(*_, **__):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

        monkeypatch.setattr("pts3h.nets.feature_cache.FrozenBackbone.__call__", interrupted)
        done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *QUICK)
        assert done.code == 130 and done.err == "pts3h: stopped; run the same command again to go on\n"


class TestData:
    def test_digits_and_their_split(self, here, run):
        done = run("data", "digits", "--split", "split.json", "--json")
        assert done.json["items"] == 1797 and done.json["queries"] == 200 and done.json["labelled"] == 100
        stored = json.loads(Path("split.json").read_text())
        assert len(stored["queries"]) == 200 and len(stored["database"]) == 1597
        spoken = run("data", "digits")
        assert "1,797" in spoken.out and done.json["split"] in spoken.out


class TestHelp:
    @pytest.mark.parametrize("command", ["fit", "encode", "evaluate", "data", "demo"])
    def test_shows_an_example(self, run, command):
        done = run(command, "--help")
        assert done.code == 0 and f"Example: pts3h {command} " in done.out and done.err == ""

    def test_lists_the_commands(self, run):
        for arguments in (["--help"], []):
            done = run(*arguments)
            assert done.code == 0 and all(
                name in done.out for name in ("fit", "encode", "evaluate", "data", "demo")
            )

    def test_the_program_is_installed(self):
        done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and "Usage: pts3h" in done.stdout
