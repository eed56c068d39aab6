"""pts3h bench as people use it, on scikit-learn's digits as vectors."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from pts3h.bench import matrix
from pts3h.cli.app import main
from pts3h.cli.bench import spread
from pts3h.systems.table import SYSTEMS

QUICK = ["--steps", "5", "--set", "hidden=8", "--jobs", "1"]


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a command in this process, in a folder with digits.npy and labels.npy."""
    monkeypatch.chdir(tmp_path)
    digits = load_digits()
    np.save("digits.npy", digits.data[:600].astype(np.float32))
    np.save("labels.npy", digits.target[:600])

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pts3h", "bench", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return call


def digits_bench(run, *more):
    return run("digits.npy", "--labels", "labels.npy", *more, *QUICK)


def test_list(run):
    code, out, err = run("--list")
    assert (code, err) == (0, "") and out.splitlines() == SYSTEMS.names()
    assert {"pts3h-dsh", "dsh", "ksh-kernel", "fasth", "splh", "itq", "sh", "lsh"} <= {*SYSTEMS.names()}


def test_values_side_by_side():
    assert spread(["x", "--bits", "12", "24", "--jobs", "1", "y", "--methods", "itq"]) == [
        "x",
        "--bits",
        "12",
        "--bits",
        "24",
        "--jobs",
        "1",
        "y",
        "--methods",
        "itq",
    ]


def test_a_matrix_then_more_of_it(run, tmp_path, monkeypatch):
    asked = ["--methods", "pts3h-dsh", "dsh", "itq", "--bits", "8", "12", "--label-count", "60", "--runs", 2]
    code, out, err = digits_bench(run, *asked, "--out", "done")
    assert code == 0 and "12 runs are in done" in err
    assert "runs: 12 of 12 runs, done in" in err, "a log says how far it is"
    assert "PTS3H-DSH" in out and "Gain over the base" in out
    cells = {path: path.stat().st_mtime_ns for path in tmp_path.glob("done/*-seed*.json")}
    assert len(cells) == 12
    cell = json.loads((tmp_path / "done/pts3h-dsh-12bits-60labels-seed1.json").read_text())
    assert 0.1 < cell["map"] < 1 and cell["course"] and len(cell["precision"]) == 13
    splits = {json.loads(path.read_text())["split"] for path in cells if "seed0" in path.name}
    assert len(splits) == 1, "every method and code length has the same split"

    ran = []
    real = matrix.run_all

    def watched(missing, *more):
        ran.extend(missing)
        return real(missing, *more)

    monkeypatch.setattr(matrix, "run_all", watched)
    assert digits_bench(run, *asked, "--out", "done")[0] == 0
    assert ran == [] and cells == {path: path.stat().st_mtime_ns for path in cells}
    (tmp_path / "done/itq-8bits-60labels-seed0.json").unlink()
    assert digits_bench(run, *asked, "--out", "done")[0] == 0
    assert [cell.file for cell in ran] == ["itq-8bits-60labels-seed0.json"]


def test_a_config_and_flags_above_it(run, tmp_path):
    (tmp_path / "my.yaml").write_text(
        "dataset: digits.npy\nmethods: [dsh]\nbits: [8]\nlabel_count: [30]\nruns: 1\n"
        "settings: {hidden: 8}\nof: {dsh: {eta: 0.1, steps: 900}, itq: {steps: 3}}\n"
    )
    flags = ["--labels", "labels.npy", "--bits", 10, "--out", "done", "--jobs", 1, "--steps", 7]
    code, _, err = run("--config", "my.yaml", *flags)
    assert code == 0 and "1 runs are in done" in err
    assert [path.name for path in tmp_path.glob("done/*-seed*.json")] == ["dsh-10bits-30labels-seed0.json"]
    setup = json.loads((tmp_path / "done/bench.json").read_text())["setup"]
    assert setup["settings"] == {"hidden": 8, "steps": 7}
    assert setup["of"] == {"dsh": {"eta": 0.1}, "itq": {}}
    used = json.loads((tmp_path / "done/dsh-10bits-30labels-seed0.json").read_text())["settings"]
    assert (used["hidden"], used["steps"], used["eta"]) == (8, 7, 0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say which data set"),
        (["digits.npy", "--label-count", 20], "--labels labels.npy"),
        (["cifar100"], "there is no data set 'cifar100': did you mean cifar10?"),
        (["digits", "--methods", "ltq", "--label-count", 20], "did you mean itq"),
        (["digits", "--label-count", 20, "--set", "omga=1"], "did you mean omega"),
        (["digits", "--bits", "many"], "Invalid value for '--bits'"),
    ],
)
def test_mistakes(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_other_settings_need_another_folder(run, tmp_path):
    digits_bench(run, "--methods", "dsh", "--bits", 8, "--label-count", 30, "--runs", 1, "--out", "done")
    code, _, err = digits_bench(
        run, "--methods", "dsh", "--images", 300, "--label-count", 30, "--out", "done"
    )
    assert code == 2 and "other images, which do not compare" in err


def test_a_setting_that_acts_nowhere_is_one_line_and_claims_no_folder(run, tmp_path):
    asked = ("--methods", "dsh", "itq", "--bits", 8, "--label-count", 30, "--runs", 1, "--out", "done")
    code, out, err = digits_bench(run, *asked, "--set", "omega=0.5")
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "omega=0.5 would do nothing in any of the chosen systems: dsh always has omega=0.0" in err
    assert not (tmp_path / "done").exists()
    assert digits_bench(run, *asked)[0] == 0
