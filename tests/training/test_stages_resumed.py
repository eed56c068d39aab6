"""A fit that was stopped and goes on gives what an uninterrupted one gives, whatever it is trained on."""

import numpy as np
import pytest
import torch

from pts3h import Interrupted
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.training_set import TrainingSet, unlabelled_pool
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.training import learning
from pts3h.training.loop import train
from pts3h.training.stages import Trainer
from tests.pictures import pictures
from tests.training.runs import stopped_at
from tests.training.test_stages import KINDS, UPPER, VECTORS

STEPS, STOP = 6, 1  # early: what neighbours say gives way to the teacher
CLASSES = np.arange(36) % 3
FIRST = np.arange(24)


def known_of(what):
    """Labels of the first 24 items, or pairs among them."""
    if what == "labels":
        return LabelPairs(np.where(np.arange(36) < 24, CLASSES, -1))
    pairs = [(a, b, int(CLASSES[a] == CLASSES[b])) for a in FIRST for b in FIRST[a + 1 : a + 7]]
    return PairList(36, pairs)


def fit(kind, what, folder, *, resume=False):
    known = known_of(what)
    content = VECTORS if kind == "vectors" else pictures(36, side=16)[0]
    training = TrainingSet(read_items(content), known, unlabelled_pool(36, known))
    used = resolve(Settings(**{**KINDS, "upper": UPPER}[kind] | {"steps": STEPS}), training)
    trainer = Trainer(folder=folder, resume=resume, progress=False, asked={"bits": 8})
    return trainer.fit(training, used).model


@pytest.mark.parametrize("what", ["labels", "pairs"])
@pytest.mark.parametrize("kind", [*KINDS, "upper"])
def test_a_fit_that_goes_on_equals_one_that_was_never_stopped(tmp_path, monkeypatch, kind, what):
    monkeypatch.setattr("pts3h.settings.used.HEAD_STEPS", 4)
    expected = fit(kind, what, tmp_path / "whole")

    def stopped(run, **how):
        return train(run if run.folder is None else stopped_at(run, STOP), **how)

    with monkeypatch.context() as patch:
        patch.setattr(learning, "train", stopped)
        with pytest.raises(Interrupted, match=f"after step {STOP} of {STEPS}"):
            fit(kind, what, tmp_path / "stopped")
    resumed = fit(kind, what, tmp_path / "stopped", resume=True)
    assert resumed.used == expected.used
    assert resumed.history == expected.history
    for name in ("student", "teacher"):
        one, other = (getattr(model.networks, name).state_dict() for model in (expected, resumed))
        assert all(torch.equal(value, other[key]) for key, value in one.items())
