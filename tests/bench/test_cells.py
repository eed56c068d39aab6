"""Single cells: whole networks on pictures, and what a cell keeps."""

import json
import os
import shutil
import signal
from unittest.mock import ANY

import numpy as np
import pytest
import torch

from pts3h.bench.cells import build_inputs, course, resolved, run_cell
from pts3h.bench.plan import Cell, Setup, defining_settings
from pts3h.bench.sources import load_data
from pts3h.errors import UserError
from pts3h.objectives.pts3h import PTS3H
from pts3h.training.loop import Interrupted

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


@pytest.fixture
def run(tmp_path):
    """Run a cell in this process and read its file; the number of threads is put back."""
    threads = torch.get_num_threads()

    def call(setup, method):
        cell = Cell(method, 8, 30, 0)
        run_cell(setup, cell, tmp_path)
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
    assert run(WHOLE, "pts3h-dsh") == expected | {"seconds": ANY}
    assert steps == [1, 2, 3]
    assert run(WHOLE, "pts3h-dsh") == expected | {"seconds": ANY}  # from the model, which was kept
    assert steps == [1, 2, 3]


def test_not_everything_is_trained_whole(run):
    with pytest.raises(UserError, match="vat is not trained whole here"):
        run(WHOLE, "vat")


def test_what_makes_a_hasher_a_system():
    assert defining_settings("dsh") == {"loss": "dsh", "omega": 0.0}
    assert defining_settings("pts3h-dpsh") == {"loss": "dpsh"}
    assert defining_settings("pts3h-p") == {"loss": "dsh", "gamma": 0.0}
    assert defining_settings("pts3h-q") == {"loss": "dsh", "consistency": False}
    assert defining_settings("vat") == defining_settings("itq") == {}


def test_a_setting_for_all_does_not_make_a_baseline_another_system(run):
    """--set omega=0.9 is for PTS3H; DSH stays supervised."""
    settings = {**WHOLE.settings, "freeze": True}
    plain, changed = (
        run(Setup("digits", images=300, settings=settings | more), "dsh") for more in ({}, {"omega": 0.9})
    )
    assert plain["map"] == changed["map"] and not changed["course"]


def test_queries_do_not_shape_the_features():
    data = load_data("digits", None, None, 300)
    config = resolved(data, Cell("dsh", 8, 30, 0), {**WHOLE.settings, "freeze": True})
    whole, part = (build_inputs(data, config, members=members) for members in (None, np.arange(50)))
    assert not torch.equal(whole.center, part.center)


def test_the_course_of_thr_is_thinned():
    history = [{"step": step, "threshold": -step / 1000, "loss": 1.0} for step in range(1, 1001)]
    kept = course(history)
    assert len(kept) == 100 and kept[0] == [1, -0.001] and kept[-1] == [991, -0.991]
    assert course([{"step": 1, "loss": 0.5}]) == []
