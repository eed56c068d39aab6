"""Every deep system, from a training set to codes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pts3h.codes import pack
from pts3h.data.inputs import VectorInputs
from pts3h.data.items import from_array
from pts3h.errors import UserError
from pts3h.settings.asked import Settings
from pts3h.settings.defaults import DEFAULTS
from pts3h.settings.resolve import resolve
from pts3h.systems.deep import DeepSystem
from pts3h.systems.system import Encoder, Task
from pts3h.systems.table import SYSTEMS
from pts3h.util.table import load

from . import problems

BITS, STEPS = 16, 200
DEEP = {system.name: system for system in SYSTEMS if isinstance(system, DeepSystem)}
LABELS_ONLY = {"ssdh", "dsh-gans", "dsdh", "pts3h-classes", "pts3h-full"}
SUPERVISED = {"dsh", "dpsh", "ksh", "dhn", "hashnet", "mihash", "dsdh", "dmdh", "dish"}
SMALL = {"steps": STEPS, "hidden": 32, "labelled_per_batch": 32, "unlabelled_per_batch": 48}


def task(training, seed=0, **settings):
    """Settings as of a benchmark: what cannot act in a system is set aside."""
    asked = SMALL | settings
    return Task(training, BITS, seed, settings=asked, shared=frozenset(asked))


def fit(name, training, seed=0, **settings):
    return SYSTEMS.find(name).fit(task(training, seed, **settings))


@pytest.fixture(scope="module")
def random_projections():
    """What LSH scores, mean of a few draws."""
    training, scores = problems.make_label_training(), []
    center = problems.make_vectors()[: problems.TRAINED].mean(axis=0)
    for seed in range(5):
        projection = np.random.default_rng(seed).normal(size=(problems.WIDTH, BITS)).astype(np.float32)
        encoder = Encoder(lambda items, p=projection: ((np.asarray(items.content) - center) @ p, {}))
        scores.append(problems.score(encoder, training, BITS))
    return np.mean(scores)


@pytest.mark.parametrize("name", DEEP)
def test_every_system_learns_and_beats_random_projections(name, random_projections):
    training = problems.make_label_training()
    # mutual information is flat where nothing is known yet, so that MIHash is slow to start
    steps = 4 * STEPS if "mihash" in name else STEPS
    encoder = fit(name, training, steps=steps)
    assert problems.score(encoder, training, BITS) > random_projections + 0.05
    assert len(encoder.history) == steps


@pytest.mark.parametrize("name", DEEP)
def test_pairs_are_enough_or_refused_in_one_line(name):
    training = problems.make_pair_training()
    if name in LABELS_ONLY:
        with pytest.raises(UserError, match=f"^{name} learns from labels, and only pairs are known") as error:
            fit(name, training)
        assert "\n" not in str(error.value)
    else:
        assert np.isfinite(fit(name, training, steps=5).history[-1]["loss"])


@pytest.mark.parametrize("name", sorted(set(DEEP) - SUPERVISED))
def test_unlabelled_items_may_join_late(name):
    history = fit(name, problems.make_label_training(), steps=10, lead=0.5).history
    assert np.isfinite([record["loss"] for record in history]).all()


@pytest.mark.parametrize("name", sorted(LABELS_ONLY))
def test_several_classes_an_item(name):
    assert np.isfinite(fit(name, problems.make_flags_training(), steps=30).history[-1]["loss"])


@pytest.mark.parametrize("name", DEEP)
def test_what_the_table_says_of_each_system(name):
    system = DEEP[name]
    assert system.needs_labels == (name in LABELS_ONLY)
    assert (system.kind == "supervised") == (name in SUPERVISED)
    used = system.used(task(problems.make_label_training()))
    assert used.learns_from_unlabelled == (name not in SUPERVISED)
    objective = load(system.objective)(problems.make_problem(), used)
    assert objective.needs_unlabelled == (name not in SUPERVISED)
    if system.base is not None:
        assert DEEP[system.base].kind == "supervised" and used.loss == system.base


@pytest.mark.parametrize("name", sorted(SUPERVISED))
def test_supervised_systems_never_look_at_the_pool(name, monkeypatch):
    # inputs are centred by all who take part, and the length of a run depends on their number: both are given
    standard = torch.zeros(problems.WIDTH), torch.ones(problems.WIDTH)
    monkeypatch.setattr(VectorInputs, "standard", standard)
    training = problems.make_label_training()
    alone = replace(training, pool=np.empty(0, np.int64))
    vectors = problems.make_vectors()
    vectors[training.pool] *= 1000
    changed = replace(training, items=from_array(vectors))
    first, second, third = (fit(name, each, steps=8).history for each in (training, alone, changed))
    assert first == second == third


@pytest.mark.parametrize("name", ["dish", "dsh-gans", "bgdh", "vat"])
def test_the_same_seed_gives_the_same_codes(name):
    training = problems.make_label_training()
    first, again, other = (
        pack(fit(name, training, seed=seed, steps=20).outputs(training.items)[0]) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_variants_differ_from_the_whole_as_their_names_say():
    training = problems.make_label_training()
    names = ("pts3h-dsh", "pts3h-p", "pts3h-q", "pts3h-s")
    encoders = {name: fit(name, training, steps=10) for name in names}
    last = {name: encoder.history[-1] for name, encoder in encoders.items()}
    assert {"consistent", "quantized"} <= last["pts3h-dsh"].keys()
    assert "quantized" not in last["pts3h-p"] and "consistent" in last["pts3h-p"]
    assert "consistent" not in last["pts3h-q"] and "quantized" in last["pts3h-q"]
    assert last["pts3h-s"] == last["pts3h-dsh"], "it is trained the same, and coded by the student"
    whole, student = (encoders[name].outputs(training.items)[0] for name in ("pts3h-dsh", "pts3h-s"))
    assert not np.allclose(whole, student)


class TestSettings:
    def test_what_makes_a_system_stands_above_what_is_asked_for(self):
        used = SYSTEMS.find("pts3h-p").used(task(problems.make_label_training(), gamma=2.0, loss="ksh"))
        assert (used.gamma, used.loss) == (0.0, "dsh")

    def test_defaults_of_a_system_stand_below(self):
        training = problems.make_label_training()
        assert SYSTEMS.find("vat").used(task(training)).omega == 0.1
        assert SYSTEMS.find("vat").used(task(training, omega=0.7)).omega == 0.7

    def test_the_rest_is_resolved_as_for_a_hasher(self):
        training = problems.make_label_training()
        system = SYSTEMS.find("pts3h-dsh")
        used = system.used(Task(training, BITS, 3, settings={"steps": 7}))
        assert used == resolve(Settings(bits=BITS, seed=3, steps=7, loss="dsh", neighbours=0.0), training)

    def test_what_cannot_act_is_refused_unless_asked_of_several(self):
        training = problems.make_label_training()
        asked = {"views": 2}
        with pytest.raises(UserError, match="views=2 would do nothing here: it is for pictures"):
            SYSTEMS.find("dsh").used(Task(training, BITS, settings=asked))
        assert (
            SYSTEMS.find("dsh").used(Task(training, BITS, settings=asked, shared=frozenset(asked))).views == 0
        )


def test_only_learned_bits_are_compared(monkeypatch):
    """Whatever the default of a hasher is: the paper's codes have no look bits."""
    monkeypatch.setitem(DEFAULTS, "look_bits", 8)
    training, system = problems.make_label_training(), DEEP["pts3h-dsh"]
    assert resolve(Settings(), training).look_bits == 8
    assert system.used(Task(training, BITS)).look_bits == 0
    assert system.used(Task(training, BITS, settings={"look_bits": 0})).look_bits == 0
    with pytest.raises(
        UserError, match="look_bits=8 would do nothing here: pts3h-dsh always has look_bits=0"
    ):
        system.used(Task(training, BITS, settings={"look_bits": 8}))
    assert SYSTEMS.find("itq").used(Task(training, BITS)).look_bits == 0
