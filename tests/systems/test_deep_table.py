"""Every deep system, from a problem to codes."""

import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.systems.deep_table import DEEP, make
from pts3h.systems.system import Encoder, Problem
from pts3h.systems.table import METHODS

from . import problems

BITS, STEPS = 16, 200
LABELS_ONLY = {"dsdh", "ssdh", "dsh-gans"}
SUPERVISED = {"dsh", "dpsh", "ksh", "dhn", "hashnet", "mihash", "dsdh", "dmdh", "dish"}


def fit(name, problem, seed=0, **settings):
    small = {"steps": STEPS, "hidden": 32, "labelled_per_batch": 32, "unlabelled_per_batch": 48}
    method = make(name, small | settings)
    return method.fit(problem, bits=BITS, seed=seed, show=False)


@pytest.fixture(scope="module")
def random_projections():
    """What LSH scores, mean of a few draws."""
    problem, scores = problems.make_problem(), []
    for seed in range(5):
        projection = np.random.default_rng(seed).normal(size=(problems.WIDTH, BITS)).astype(np.float32)
        center = problem.inputs.center.numpy()
        encoder = Encoder(lambda x, p=projection, c=center: (x.numpy() - c) @ p)
        scores.append(problems.score(encoder, problem, BITS))
    return np.mean(scores)


@pytest.mark.parametrize("name", DEEP)
def test_every_system_learns_and_beats_random_projections(name, random_projections):
    problem = problems.make_problem()
    # mutual information is flat where nothing is known yet, so that MIHash is slow to start
    steps = 4 * STEPS if "mihash" in name else STEPS
    encoder = fit(name, problem, steps=steps)
    assert problems.score(encoder, problem, BITS) > random_projections + 0.05
    assert len(encoder.history) == steps


@pytest.mark.parametrize("name", DEEP)
def test_pairs_are_enough_or_refused_in_one_line(name):
    problem = problems.make_pair_problem()
    if name in LABELS_ONLY:
        with pytest.raises(UserError, match=f"^{name} learns from labels, and only pairs are known") as error:
            fit(name, problem)
        assert "\n" not in str(error.value)
    else:
        assert np.isfinite(fit(name, problem, steps=5).history[-1]["loss"])


@pytest.mark.parametrize("name", sorted(set(DEEP) - SUPERVISED))
def test_unlabelled_items_may_join_late(name):
    history = fit(name, problems.make_problem(), steps=10, lead=0.5).history
    assert np.isfinite([record["loss"] for record in history]).all()


@pytest.mark.parametrize("name", sorted(LABELS_ONLY))
def test_several_classes_an_item(name):
    assert np.isfinite(fit(name, problems.make_flags_problem(), steps=30).history[-1]["loss"])


def test_what_the_table_says_of_each_system():
    assert {name for name, method in DEEP.items() if method.needs_labels} == LABELS_ONLY
    assert {name for name, method in DEEP.items() if not method.uses_unlabelled} == SUPERVISED
    for name, method in DEEP.items():
        assert method.name == name
        assert METHODS[name].module == "deep_table"


@pytest.mark.parametrize("name", sorted(SUPERVISED))
def test_supervised_systems_never_look_at_the_pool(name):
    problem = problems.make_problem()
    alone = Problem(problem.inputs, problem.known, np.empty(0, np.int64))
    # the length of a run depends on the number of items, so it is given
    first, second = (fit(name, each, steps=8).history for each in (problem, alone))
    assert first == second


@pytest.mark.parametrize("name", ["dish", "dsh-gans", "bgdh", "vat"])
def test_the_same_seed_gives_the_same_codes(name):
    problem = problems.make_problem()
    first, again, other = (
        fit(name, problem, seed=seed, steps=20).codes(problem.inputs, np.arange(50)) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_variants_differ_from_the_whole_as_their_names_say():
    problem = problems.make_problem()
    names = ("pts3h-dsh", "pts3h-p", "pts3h-q", "pts3h-s")
    last = {name: fit(name, problem, steps=10).history[-1] for name in names}
    assert {"consistent", "quantized"} <= last["pts3h-dsh"].keys()
    assert "quantized" not in last["pts3h-p"] and "consistent" in last["pts3h-p"]
    assert "consistent" not in last["pts3h-q"] and "quantized" in last["pts3h-q"]
    assert last["pts3h-s"] == last["pts3h-dsh"], "it is trained the same, and coded by the student"
    assert DEEP["pts3h-s"].network == "student"


def test_pictures_are_refused():
    problem = problems.make_problem()
    with pytest.raises(UserError, match="dsh trains on vectors or cached features here"):
        fit("dsh", Problem(object(), problem.known, problem.pool))
