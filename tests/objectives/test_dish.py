from itertools import pairwise

import numpy as np
import pytest
import torch

from pts3h.objectives import dish
from pts3h.objectives.dish import DISH, infer_codes, inference_objective
from pts3h.objectives.memory import CodeMemory

from ..systems import problems
from .steps import make_step

ITEMS, BITS = 24, 6


@pytest.fixture
def state():
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=ITEMS)
    signed = np.where(classes[:, None] == classes[None, :], 1.0, -1.0)
    unknown = np.triu(rng.random((ITEMS, ITEMS)) < 0.3)
    signed[unknown | unknown.T] = 0
    np.fill_diagonal(signed, 0)
    codes = np.where(rng.random((ITEMS, BITS)) < 0.5, 1.0, -1.0)
    return codes, signed, rng.normal(size=(ITEMS, BITS)), classes


def objective_by_pairs(codes, signed, outputs, anchor):
    """Each item's pairs count as one on average, and as little as b bits do."""
    scale = 1 / (BITS * max((signed != 0).sum(axis=1).mean(), 1))
    total = anchor * ((codes - outputs) ** 2).sum()
    for i in range(ITEMS):
        for j in range(i):
            if signed[i, j]:
                total += scale * (BITS * signed[i, j] - codes[i] @ codes[j]) ** 2
    return total


@pytest.mark.parametrize("anchor", [0.0, 0.1, 3.0])
def test_inference_never_raises_its_objective(state, anchor):
    codes, signed, outputs, _ = state
    energies = [objective_by_pairs(codes, signed, outputs, anchor)]
    for _ in range(4):
        codes = infer_codes(codes, signed, outputs, anchor)
        energies.append(objective_by_pairs(codes, signed, outputs, anchor))
        assert inference_objective(codes, signed, outputs, anchor) == pytest.approx(energies[-1])
    assert set(np.unique(codes)) == {-1.0, 1.0}
    assert all(after <= before + 1e-9 for before, after in pairwise(energies))
    assert energies[-1] < energies[0]


def test_inferred_codes_tell_the_classes(state):
    codes, signed, outputs, classes = state
    for _ in range(3):
        codes = infer_codes(codes, signed, outputs, 0.0)
    alike, inner = classes[:, None] == classes[None, :], codes @ codes.T
    assert inner[alike].min() > inner[~alike].max()


def test_the_network_regresses_to_the_codes():
    problem = problems.make_problem(labelled=40)
    memory = CodeMemory(problem.known.labelled, BITS, steps=100)
    objective = DISH(problem.known, memory, problem.inputs)
    assert set(memory.codes.unique().tolist()) == {-1.0, 1.0}, "there are codes before the first step"
    chosen = np.array([3, 8, 11])
    known, similar = problem.known.block(chosen)
    outputs = np.random.default_rng(1).normal(size=(3, BITS))
    terms = objective(make_step(outputs, known, similar, positions=chosen))
    codes = memory.codes[torch.from_numpy(chosen)].numpy()
    assert terms.total.item() == pytest.approx(((codes - outputs) ** 2).mean())


def test_many_items_are_inferred_in_groups(monkeypatch):
    monkeypatch.setattr(dish, "GROUP", 15)
    problem = problems.make_problem(labelled=40)
    memory = CodeMemory(problem.known.labelled, BITS, steps=100)
    DISH(problem.known, memory, problem.inputs)
    assert set(memory.codes.unique().tolist()) == {-1.0, 1.0}
