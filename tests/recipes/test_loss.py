"""docs/recipes/loss.md, carried out: a pairwise loss from outside the package."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import pts3h
from pts3h.losses.consistency import cosines
from pts3h.losses.pairwise import PairwiseLoss, count
from pts3h.losses.table import LOSSES, Loss
from pts3h.systems.deep import DeepSystem
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from tests.losses import oracles
from tests.recipes.pages import python_blocks
from tests.systems import problems

BITS = 16


class AngleLoss(PairwiseLoss):
    """Cosines should be +1 for similar pairs and 0 for others."""

    def __init__(self, bits):
        self.bits = bits

    def supervised(self, outputs, similar, known):
        return self.pseudo(cosines(outputs), similar, known)

    def pseudo(self, cosine, similar, unknown):
        return ((cosine - similar.to(cosine.dtype)).square() * unknown).sum() / count(unknown)


ROW = Loss(name="angle", label="Angle", source="a test", make=AngleLoss, omega=0.3, learning_rate=0.2)


@pytest.fixture(autouse=True)
def ours_alone(monkeypatch):
    """Rows that a test introduces are gone after it."""
    for table in (LOSSES, SYSTEMS):
        monkeypatch.setattr(table, "_rows", dict(table._rows))


def fit(loss, **settings):
    """On the small problem that every system should solve."""
    labels = np.where(np.arange(problems.COUNT) < 60, problems.TRUTH, -1)
    settings = {"bits": BITS, "steps": 100, "hidden": 32} | settings
    unlabelled = np.arange(60, problems.TRAINED)
    return pts3h.Hasher(loss=loss, **settings).fit(
        problems.make_vectors(), labels=labels, unlabelled=unlabelled, progress=False
    )


def quality(codes):
    queries, database = codes[problems.TRAINED :], codes[: problems.TRAINED]
    labels = problems.TRUTH[problems.TRAINED :], problems.TRUTH[: problems.TRAINED]
    return pts3h.evaluate(queries, database, labels=labels, bits=BITS).map


def test_value_and_gradient():
    rng = np.random.default_rng(0)
    outputs, (known, similar) = rng.normal(size=(7, BITS)), oracles.masks(rng, 7)

    def oracle(at):
        return oracles.mean_over(known, lambda i, j: (similar[i, j] - oracles.cosine(at, i, j)) ** 2)

    for face in ("supervised", "pseudo"):
        variable = torch.tensor(outputs, requires_grad=True)
        first = variable if face == "supervised" else cosines(variable)
        loss = getattr(ROW.build(BITS), face)(first, torch.from_numpy(similar), torch.from_numpy(known))
        loss.backward()
        assert loss.item() == pytest.approx(oracle(outputs), abs=1e-6)
        np.testing.assert_allclose(variable.grad.numpy(), oracles.gradient(oracle, outputs), atol=1e-6)


def test_one_object_is_enough_and_then_its_name():
    with pytest.raises(pts3h.UserError, match="there is no loss 'angle'"):
        pts3h.Hasher(loss="angle")
    hasher = fit(ROW)
    assert (hasher.used.loss, hasher.used.omega, hasher.used.learning_rate) == ("angle", 0.3, 0.2)
    codes = hasher.encode(problems.make_vectors())
    centre = problems.make_vectors()[: problems.TRAINED].mean(axis=0)
    projection = np.random.default_rng(0).normal(size=(problems.WIDTH, BITS))
    assert quality(codes) > quality(pts3h.pack((problems.make_vectors() - centre) @ projection)) + 0.1
    np.testing.assert_array_equal(fit("angle").encode(problems.make_vectors()), codes)
    assert LOSSES.own() == [ROW]


def test_what_the_user_asks_for_stands_above_the_row():
    used = fit(ROW, omega=0.7, steps=2).used
    assert (used.omega, used.learning_rate) == (0.7, 0.2)
    with pytest.raises(pts3h.UserError, match="divide=True would do nothing here"):
        fit(ROW, divide=True)


def test_ours_keep_their_names():
    with pytest.raises(pts3h.UserError, match="there is a loss called dsh already"):
        pts3h.Hasher(loss=Loss(name="dsh", label="other", source="a test", make=AngleLoss))


def test_saved_and_loaded(tmp_path, monkeypatch):
    ours = dict(LOSSES._rows)
    hasher = fit(ROW, steps=20)
    codes = hasher.encode(problems.make_vectors())
    hasher.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["asked"]["loss"] == "angle"
    again = pts3h.Hasher.load(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(problems.make_vectors()), codes)
    assert again.settings.loss == "angle"

    monkeypatch.setattr(LOSSES, "_rows", ours)  # another program, which does not know the row yet
    stranger = pts3h.Hasher.load(tmp_path / "model")
    np.testing.assert_array_equal(stranger.encode(problems.make_vectors()), codes)
    with pytest.raises(pts3h.UserError, match="a loss of your own, angle"):
        stranger.fit(problems.make_vectors(), labels=problems.TRUTH)
    assert pts3h.Hasher.load(tmp_path / "model", loss=ROW).settings.loss is ROW


def test_as_a_system():
    LOSSES.find(ROW)
    system = SYSTEMS.find(
        DeepSystem(
            name="pts3h-angle", label="PTS3H-Angle", kind="semi-supervised", defining={"loss": "angle"}
        )
    )
    training = problems.make_label_training()
    encoder = system.fit(Task(training, BITS, settings={"steps": 100, "hidden": 32}))
    assert problems.score(encoder, training, BITS) > 0.5
    assert encoder.history[-1]["omega"] == pytest.approx(0.3)


def test_the_page_as_it_stands(tmp_path):
    blocks = python_blocks("loss.md")
    assert len(blocks) == 3
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
