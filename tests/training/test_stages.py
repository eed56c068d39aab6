"""The stages of a fit: which runs there are, with which settings, and which of them is kept and watched."""

import numpy as np
import pytest
import torch

from pts3h import SkippedWarning, UserError
from pts3h.data.inputs import MapInputs
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.training_set import TrainingSet, unlabelled_pool
from pts3h.model.folder import load_model
from pts3h.nets.backbones.efficientnet import EfficientNetLite, pretrained_lite0
from pts3h.nets.backbones.parts import LowerPart, UpperPart
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.training import stages
from pts3h.training.learning import learn
from pts3h.training.stages import Trainer
from pts3h.training.tuning import Tuning
from tests.pictures import pictures, write_pictures

FAST = {"bits": 8, "steps": 3, "hidden": 8, "labelled_per_batch": 8, "unlabelled_per_batch": 8}
IMAGE = FAST | {"backbone": "small", "image_size": 16, "views": 1}
KINDS = {
    "vectors": FAST,
    "frozen": IMAGE | {"freeze": True},
    "warm": IMAGE | {"freeze": False, "warm_start": True},
    "cold": {name: value for name, value in IMAGE.items() if name != "views"},
}
UPPER = IMAGE | {"backbone": "efficientnet-lite0", "image_size": 32, "freeze": False, "fixed_blocks": 12}
VECTORS = np.random.default_rng(0).normal(size=(36, 6)).astype(np.float32)


def training_set(content, kinds=None):
    kinds = np.arange(36) % 3 if kinds is None else kinds
    labels = np.where(np.arange(len(kinds)) < 24, kinds, -1)
    known = LabelPairs(labels)
    return TrainingSet(read_items(content), known, unlabelled_pool(len(kinds), known))


@pytest.fixture
def runs(monkeypatch):
    """What each run of the loop was started with; the head of a warm start takes few steps too."""
    seen = []

    def noted(problem, used, objective, make, **how):
        seen.append({"problem": problem, "used": used, **how})
        return learn(problem, used, objective, make, **how)

    monkeypatch.setattr(stages, "learn", noted)
    monkeypatch.setattr("pts3h.settings.used.HEAD_STEPS", 4)
    return seen


def fit(kind, *, tuning=None, folder=None, watch=None, **settings):
    training = training_set(VECTORS if kind == "vectors" else pictures(36, side=16)[0])
    used = resolve(Settings(**{**KINDS, "upper": UPPER}[kind] | settings), training)
    trainer = Trainer(tuning=tuning, folder=folder, watch=watch, progress=False, asked={"bits": 8})
    return used, trainer.fit(training, used)


@pytest.mark.parametrize(("kind", "count"), [("vectors", 3), ("frozen", 3), ("warm", 4), ("cold", 3)])
def test_only_the_last_run_is_kept_and_watched(runs, tmp_path, kind, count):
    """Two trials and the run itself, with the head before it in a warm start."""
    records = []
    tuning = Tuning(0.2, {"eta": [0.0, 0.01]})
    _, fitted = fit(kind, tuning=tuning, folder=tmp_path / "out", watch=records.append)
    assert [run["folder"] for run in runs] == [None] * (count - 1) + [tmp_path / "out"]
    assert [run["watch"] is not None for run in runs] == [False] * (count - 1) + [True]
    assert not any(run["resume"] for run in runs)
    assert records == fitted.model.history and len(records) == 3
    assert len(fitted.trials) == 2
    assert load_model(tmp_path / "out").fingerprint == fitted.model.fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_grid_chose_is_what_the_model_used(runs, tmp_path, kind):
    grid = {"omega": [0.31, 0.62], "gamma": [0.7], "eta": [0.003], "similar_share": [0.2, 0.4]}
    used, fitted = fit(kind, tuning=Tuning(0.2, grid), folder=tmp_path / "out")
    best = max(fitted.trials, key=lambda trial: trial.score).settings
    assert fitted.model.used == used.but(best)
    assert runs[-1]["used"] == fitted.model.used, "it is trained with what the model says"
    assert {name: fitted.model.summary["validation"][name] for name in grid} == best
    card = (tmp_path / "out" / "README.md").read_text()
    for name, value in fitted.model.used.to_json().items():
        assert f"| {name} | {value} |" in card
    assert "None" not in card


@pytest.mark.parametrize("name", ["learning_rate", "alpha"])
def test_without_a_warm_start_the_grid_chooses_these_too(runs, name):
    _, fitted = fit("cold", tuning=Tuning(0.2, {name: [0.0123]}))
    assert getattr(fitted.model.used, name) == getattr(runs[-1]["used"], name) == 0.0123


def test_a_warm_start_trains_a_head_first_and_begins_from_it(runs):
    used, fitted = fit("warm")
    head, whole = runs
    assert head["used"] == used.for_frozen_head() and head["start"] is None and head["name"] == "head"
    assert whole["used"] == used and whole["start"].backbone is None
    assert fitted.model.networks.backbone is None and fitted.model.networks.teacher.backbone is not None


def test_fixed_blocks_stay_and_what_is_above_them_learns(runs, tmp_path):
    used, fitted = fit("upper", folder=tmp_path / "out", learning_rate=0.05, backbone_rate=1.0)
    assert used.fixed_blocks == 12 and [run["name"] for run in runs] == ["head", "training"]
    assert isinstance(runs[-1]["problem"].inputs, MapInputs)
    before = pretrained_lite0().state_dict()
    for network in (fitted.model.networks.student, fitted.model.networks.teacher):
        assert isinstance(network.backbone, EfficientNetLite), "it is one network again"
        after = network.backbone.state_dict()
        changed = {name for name, value in before.items() if not torch.equal(value, after[name])}
        assert "head.conv.weight" in changed and "blocks.15.project.conv.weight" in changed
        assert all(name.split(".")[:2] > ["blocks", "11"] or name.startswith("head") for name in changed)


def test_what_upper_blocks_learned_from_is_what_the_model_encodes(runs, tmp_path):
    """The kept maps are those of the pictures: the model, whole, gives the outputs of the part on them."""
    _, fitted = fit("upper", folder=tmp_path / "out", learning_rate=0.05)
    inputs, images = runs[-1]["problem"].inputs, pictures(36, side=16)[0]
    model = load_model(tmp_path / "out")
    assert model.fingerprint == fitted.model.fingerprint
    backbone = model.networks.teacher.backbone
    features = UpperPart(backbone, LowerPart(backbone, 12, 32))(inputs.clean(np.arange(36)))
    expected = model.networks.teacher.head(features).detach().numpy()
    outputs, _ = model.outputs(read_items(images), progress=False)
    np.testing.assert_allclose(outputs, expected, rtol=0.02, atol=0.02 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"fixed_blocks": 17}, "between 1 and 16"), ({"backbone": "small"}, "SmallConv has no blocks")],
)
def test_blocks_that_are_not_there_are_refused_before_any_work(runs, settings, message):
    with pytest.raises(UserError, match=message):
        fit("upper", **settings)
    assert runs == []


def test_a_cold_start_does_not(runs):
    used, fitted = fit("cold")
    assert [run["start"] for run in runs] == [None] and runs[0]["used"] == used
    assert fitted.model.networks.teacher.backbone is not None


@pytest.mark.parametrize("kind", ["frozen", "warm", "cold"])
def test_broken_pictures_leave_the_known_pairs_and_the_pool(runs, tmp_path, kind):
    kinds = write_pictures(tmp_path, 36, side=16)
    for name in ("05.png", "30.png"):  # one labelled, one not
        (tmp_path / name).write_text("no picture")
    training = training_set(tmp_path, kinds)
    used = resolve(Settings(**KINDS[kind]), training)
    with pytest.warns(SkippedWarning, match="2 of 36 pictures"):
        fitted = Trainer(progress=False).fit(training, used)
    assert list(fitted.broken) == [5, 30] and "05.png" in fitted.broken[5]
    for run in runs:
        assert run["problem"].known.labelled.tolist() == [n for n in range(24) if n != 5]
        assert run["problem"].pool.tolist() == [n for n in range(24, 36) if n != 30]
    assert fitted.model.summary["skipped"] == 2 and fitted.model.summary["labelled_items"] == 23


def test_the_objective_is_made_with_the_seed_of_the_settings():
    """What it draws does not depend on what was drawn before."""
    import torch

    from pts3h.objectives.pts3h import build

    drawn = []

    def make(problem, used):
        drawn.append(torch.rand(1).item())
        return build(problem, used)

    training = training_set(VECTORS)
    for seed in (0, 0, 1):
        torch.rand(3)
        Trainer(make, progress=False).fit(training, resolve(Settings(**FAST, seed=seed), training))
    assert drawn[0] == drawn[1] != drawn[2]
