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


def coordinate_descent(codes, signed, outputs, anchor):
    """Bit by bit and item by item, the sign that costs less by the objective itself; +1 at a tie."""
    codes = codes.copy()
    for bit in range(BITS):
        for item in range(ITEMS):
            costs = []
            for sign in (1.0, -1.0):
                codes[item, bit] = sign
                costs.append(objective_by_pairs(codes, signed, outputs, anchor))
            codes[item, bit] = 1.0 if costs[0] <= costs[1] + 1e-9 else -1.0
    return codes


@pytest.mark.parametrize("anchor", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("pairs", [1.0, 0.02, 0.0])
def test_a_sweep_takes_the_better_sign_of_every_bit(state, anchor, pairs):
    codes, signed, outputs, _ = state
    keep = np.triu(np.random.default_rng(1).random((ITEMS, ITEMS)) < pairs)
    signed, before = signed * (keep | keep.T), codes.copy()
    improved = infer_codes(codes, signed, outputs, anchor)
    np.testing.assert_array_equal(improved, coordinate_descent(codes, signed, outputs, anchor))
    assert np.array_equal(codes, before), "what was given is left alone"
    expected = objective_by_pairs(improved, signed, outputs, anchor)
    assert inference_objective(improved, signed, outputs, anchor) == pytest.approx(expected)


def test_the_first_codes_are_projections_of_centred_items():
    """With a large anchor the codes stay at them; items far from the origin still fall on both sides."""
    problem = problems.make_problem(labelled=40)
    problem.inputs.array = problem.inputs.array + 1000 * np.arange(problems.WIDTH, dtype=np.float32)
    memory = CodeMemory(problem.known.labelled, BITS, steps=100)
    DISH(problem.known, memory, problem.inputs, anchor=1e9)
    assert torch.equal(memory.codes, memory.outputs), "signs are outputs and codes at once"
    share = (memory.codes > 0).float().mean(0)
    assert ((share > 0.15) & (share < 0.85)).all()


def test_groups_hold_all_items_and_their_own_pairs(monkeypatch):
    """Known pairs within a group pull its codes; with groups of one item the outputs alone count."""
    problem = problems.make_problem(labelled=40)
    for size, alike in ((1, False), (40, True)):
        monkeypatch.setattr(dish, "GROUP", size)
        memory = CodeMemory(problem.known.labelled, BITS, steps=100)
        objective = DISH(problem.known, memory, problem.inputs, anchor=0.1)
        memory.outputs[:] = torch.randn(40, BITS, generator=torch.Generator().manual_seed(0))
        rows = torch.arange(40)
        before = memory.codes.clone()
        codes = objective.solve(rows, before)
        assert torch.equal(before, memory.codes), "the codes that were given are left alone"
        if not alike:
            assert torch.equal(codes, torch.where(memory.outputs >= 0, 1.0, -1.0))
        classes = problems.TRUTH[problem.known.labelled]
        same = classes[:, None] == classes[None, :]
        inner = (codes @ codes.T).numpy()
        assert bool(inner[same].mean() > inner[~same].mean() + 2) is alike


def test_what_is_known_of_a_pair_is_plus_one_minus_one_or_nothing(monkeypatch):
    known = problems.make_pair_training(labelled=30).known
    memory = CodeMemory(known.labelled, BITS, steps=100)
    objective = DISH(known, memory, problems.make_problem().inputs)
    memory.outputs[:, 0] = torch.from_numpy(
        known.labelled
    ).float()  # so that an item can be told by its outputs
    asked = []

    def remember(codes, signed, outputs, anchor):
        asked.append((signed, outputs[:, 0].astype(int)))
        return codes

    monkeypatch.setattr(dish, "infer_codes", remember)
    objective.solve(torch.arange(len(known.labelled)), memory.codes)
    said = {
        frozenset(pair): 1 if alike else -1
        for pair, alike in zip(known.pairs.tolist(), known.similar, strict=True)
    }
    ((signed, items),) = asked
    expected = [[said.get(frozenset((int(a), int(b))), 0) for b in items] for a in items]
    assert np.unique(expected).tolist() == [-1, 0, 1]
    np.testing.assert_array_equal(signed, expected)


def test_codes_are_inferred_anew_when_that_is_due_and_unlabelled_items_are_left_out():
    problem = problems.make_problem(labelled=40)
    memory = CodeMemory(problem.known.labelled, BITS, steps=20)
    objective = DISH(problem.known, memory, problem.inputs, anchor=1e9)
    labelled = problem.known.labelled
    known, similar = problem.known.block(labelled)
    outputs = np.random.default_rng(1).normal(size=(45, BITS))
    positions = np.concatenate([labelled, np.arange(100, 105)])
    terms = objective(make_step(outputs, known, similar, positions=positions))
    wanted = np.where(outputs[:40] >= 0, 1.0, -1.0)
    np.testing.assert_array_equal(memory.codes.numpy(), wanted)
    expected = ((wanted - outputs[:40]) ** 2).mean()
    assert terms.figures() == pytest.approx({"loss": expected, "supervised": expected})
