"""Single cells: whole networks on pictures, and what a cell keeps."""

import json
import os
import shutil
import signal
from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import pytest
import torch

from pts3h import load_model
from pts3h.bench.cells import codes_file, course, run_cell
from pts3h.bench.plan import Cell, Setup
from pts3h.bench.sources import load_data, split_of
from pts3h.bench.tasks import task_of
from pts3h.data.splits import Split
from pts3h.errors import Interrupted, UserError
from pts3h.objectives.pts3h import PTS3H
from pts3h.systems.shallow.system import FEATURES
from pts3h.systems.table import SYSTEMS

WHOLE = Setup(
    "digits",
    images=300,
    settings={
        "backbone": "small",
        "weights": "random",
        "image_size": 16,
        "freeze": False,
        "steps": 3,
        "hidden": 8,
        "views": 1,
        "labelled_per_batch": 8,
        "unlabelled_per_batch": 8,
    },
)


FROZEN = replace(WHOLE, settings={**WHOLE.settings, "freeze": True})


@pytest.fixture
def run(tmp_path):
    """Run a cell in this process and read its file; the number of threads is put back."""
    threads = torch.get_num_threads()

    def call(setup, method, **more):
        cell = Cell(method, 8, 30, 0)
        run_cell(setup, cell, tmp_path, **more)
        return json.loads((tmp_path / cell.file).read_text())

    yield call
    torch.set_num_threads(threads)


def test_whole_networks_and_frozen_features_share_the_split(run):
    whole, supervised, shallow = (run(WHOLE, method) for method in ("pts3h-dsh", "dsh", "lsh"))
    assert whole["split"] == supervised["split"] == shallow["split"]
    assert whole["course"] and not supervised["course"]
    assert all(0.05 < cell["map"] < 1 for cell in (whole, supervised, shallow))
    assert whole["ranks"][-1] <= 100 and len(whole["recall"]) == 9 and whole["recall"][-1] == 1


def test_a_whole_network_that_was_stopped_goes_on(run, tmp_path, monkeypatch):
    """The cell after a stop is the cell without one."""
    expected = run(WHOLE, "pts3h-dsh")
    shutil.rmtree(tmp_path / "pts3h-dsh-8bits-30labels-seed0")
    steps = []

    def stop(self, step):
        steps.append(step.number)
        if step.number == 2 and len(steps) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, step)

    original = PTS3H.__call__
    monkeypatch.setattr(PTS3H, "__call__", stop)
    with pytest.raises(Interrupted):
        run(WHOLE, "pts3h-dsh")
    assert run(WHOLE, "pts3h-dsh") == expected | {"seconds": ANY, "checksum": ANY}
    assert steps == [1, 2, 3]
    again = {"seconds": ANY, "checksum": ANY}
    assert run(WHOLE, "pts3h-dsh") == expected | again  # from the model, which was kept
    assert steps == [1, 2, 3]


def test_other_objectives_are_trained_whole_too(run):
    assert 0.05 < run(WHOLE, "vat")["map"] < 1


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("dsh", {"loss": "dsh", "omega": 0.0}),
        ("pts3h-dpsh", {"loss": "dpsh", "gamma": 1.0}),
        ("pts3h-p", {"loss": "dsh", "gamma": 0.0}),
        ("pts3h-q", {"loss": "dsh", "consistency": False}),
        ("vat", {"loss": "dsh", "omega": 0.1}),
    ],
)
def test_a_cell_keeps_the_settings_that_make_its_system(run, method, expected):
    settings = run(FROZEN, method)["settings"]
    assert expected.items() <= settings.items()
    assert FROZEN.settings.items() - {"unlabelled_per_batch": 8}.items() <= settings.items()
    assert settings["unlabelled_per_batch"] == (0 if method == "dsh" else 8)
    assert (settings["bits"], settings["seed"]) == (8, 0)


def test_a_cell_of_a_shallow_system_keeps_how_features_were_made(run, tmp_path):
    settings = run(FROZEN, "itq")["settings"]
    assert {*settings} == {*FEATURES} - {"code_size"}  # the same as image_size
    assert (settings["backbone"], settings["image_size"], settings["views"]) == ("small", 16, 1)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(90, 5)).astype(np.float32))
    np.save(tmp_path / "y.npy", np.arange(90) % 3)
    assert run(Setup(str(tmp_path / "x.npy"), labels=str(tmp_path / "y.npy")), "lsh")["settings"] == {}


def test_codes_and_model_are_kept_where_asked(run, tmp_path):
    whole = run(FROZEN, "pts3h-dsh", keep_codes=True, model_folder=tmp_path / "model")
    items = load_data("digits", None, None, 300).items
    codes = np.load(codes_file(tmp_path, Cell("pts3h-dsh", 8, 30, 0)))
    np.testing.assert_array_equal(codes, load_model(tmp_path / "model").encode(items).codes)
    assert Split.load(tmp_path / "model" / "split.json").digest() == whole["split"]


def test_a_setting_of_one_system_that_cannot_act_is_refused(run):
    for method, own, why in [
        ("dsh", {"omega": 0.5}, r"omega=0\.5 would do nothing here: dsh always has omega=0\.0"),
        ("pts3h-p", {"similar_share": 0.2}, "omega or gamma is 0"),
        ("itq", {"hidden": 8}, "hidden=8 would do nothing here: itq has no such setting"),
    ]:
        with pytest.raises(UserError, match=why):
            run(replace(FROZEN, of={method: own}), method)


def test_a_setting_for_all_does_not_make_a_baseline_another_system(run):
    """--set omega=0.9 is for PTS3H; DSH stays supervised."""
    plain, changed = (
        run(replace(FROZEN, settings={**FROZEN.settings, **more}), "dsh") for more in ({}, {"omega": 0.9})
    )
    assert changed["settings"]["omega"] == 0
    assert plain["map"] == changed["map"] and not changed["course"]


@pytest.mark.parametrize("method", ["pts3h-dsh", "itq"])
def test_queries_do_not_shape_the_codes(tmp_path, method):
    """Two tasks that differ in the queries alone learn the same codes."""
    labels = np.arange(120) % 3
    vectors = (3 * np.eye(3, 8)[labels] + np.random.default_rng(0).normal(size=(120, 8))).astype(np.float32)
    found = []
    for name, scale in (("plain", 1), ("moved", 50)):
        x, y = str(tmp_path / f"{name}.npy"), str(tmp_path / "y.npy")
        np.save(y, labels)
        np.save(x, vectors)
        data = load_data(x, None, y, None)
        split = split_of(data, 30, 0)
        moved = vectors.copy()
        moved[split.queries] *= scale
        np.save(x, moved)
        load_data.cache_clear()
        setup = Setup(x, labels=y, settings={"steps": 5, "hidden": 8})
        data = load_data(x, None, y, None)
        task = task_of(setup, Cell(method, 8, 30, 0), data, split, tmp_path)
        outputs, _ = SYSTEMS.find(method).fit(task).outputs(data.items)
        found.append(outputs[split.database])
    np.testing.assert_array_equal(*found)


def test_the_course_of_thr_is_thinned():
    history = [{"step": step, "threshold": -step / 1000, "loss": 1.0} for step in range(1, 1001)]
    kept = course(history)
    assert len(kept) == 100 and kept[0] == [1, -0.001] and kept[-1] == [991, -0.991]
    assert course([{"step": 1, "loss": 0.5}]) == []
