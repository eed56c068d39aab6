from itertools import pairwise

import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.dsdh import DSDH, descend, ridge
from pts3h.objectives.memory import CodeMemory

from ..losses import oracles
from .steps import make_step

ITEMS, BITS, CLASSES = 30, 8, 3


def energy(codes, classifier, targets, outputs, mu, eta):
    return mu * ((targets - codes @ classifier) ** 2).sum() + eta * ((codes - outputs) ** 2).sum()


@pytest.fixture
def state():
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=ITEMS)
    codes = np.sign(rng.normal(size=(ITEMS, BITS)))
    return codes, np.eye(CLASSES)[labels], rng.normal(size=(ITEMS, BITS)), labels


@pytest.mark.parametrize("eta", [0.0, 0.1, 2.0])
def test_cyclic_descent_never_raises_its_objective(state, eta):
    codes, targets, outputs, _ = state
    classifier = ridge(torch.from_numpy(codes), torch.from_numpy(targets), 0.1).numpy()
    energies, now = [energy(codes, classifier, targets, outputs, 1.0, eta)], torch.from_numpy(codes)
    for _ in range(4):
        now = descend(now, *map(torch.from_numpy, (classifier, targets, outputs)), mu=1.0, eta=eta, sweeps=1)
        energies.append(energy(now.numpy(), classifier, targets, outputs, 1.0, eta))
    assert set(np.unique(now.numpy())) <= {-1.0, 1.0}
    assert all(after <= before + 1e-9 for before, after in pairwise(energies))
    assert energies[-1] < energies[0]


def test_descent_ends_where_no_single_bit_would_help(state):
    codes, targets, outputs, _ = state
    classifier = ridge(torch.from_numpy(codes), torch.from_numpy(targets), 0.1).numpy()
    tensors = map(torch.from_numpy, (codes, classifier, targets, outputs))
    best = descend(*tensors, mu=1.0, eta=0.1, sweeps=100).numpy()
    least = energy(best, classifier, targets, outputs, 1.0, 0.1)
    for place in np.ndindex(best.shape):
        flipped = best.copy()
        flipped[place] *= -1
        assert energy(flipped, classifier, targets, outputs, 1.0, 0.1) >= least - 1e-9


def test_ridge_is_the_minimum(state):
    codes, targets, _, _ = state
    classifier = ridge(torch.from_numpy(codes), torch.from_numpy(targets), 0.1).numpy()
    slope = codes.T @ (codes @ classifier - targets) + 0.1 * classifier
    np.testing.assert_allclose(slope, 0, atol=1e-9)


def test_the_loss_is_likelihood_plus_the_pull_of_the_codes(state):
    _, _, outputs, labels = state
    labelled = np.arange(100, 100 + ITEMS)
    all_labels = np.full(200, -1)
    all_labels[labelled] = labels
    memory = CodeMemory(labelled, BITS, steps=1)
    objective = DSDH(LOSSES.find("dpsh").build(BITS), all_labels, memory, eta=0.7)
    known = ~np.eye(ITEMS, dtype=bool)
    similar = (labels[:, None] == labels[None, :]) & known
    terms = objective(make_step(outputs, known, similar, positions=labelled))
    codes = memory.codes.numpy().astype(float)
    assert set(np.unique(codes)) == {-1.0, 1.0}, "a whole pass is over, so there are codes"
    expected = oracles.dpsh(outputs, similar, known, BITS) + 0.7 * ((codes - outputs) ** 2).mean()
    assert terms.total.item() == pytest.approx(expected, abs=1e-6)


def test_new_codes_are_solved_for_bit_by_bit(state):
    """W by least squares with nu / mu, then each bit at the cheaper sign, three times over."""
    _, targets, outputs, labels = state
    mu, nu, eta = 2.0, 0.6, 0.5
    memory = CodeMemory(np.arange(ITEMS), BITS, steps=1)
    memory.outputs[:] = torch.from_numpy(outputs)
    objective = DSDH(LOSSES.find("dpsh").build(BITS), labels, memory, mu=mu, nu=nu, eta=eta)
    rows = np.arange(5, 25)
    codes = np.where(np.random.default_rng(8).random((20, BITS)) < 0.5, 1.0, -1.0)
    given = torch.from_numpy(codes).float()
    solved = objective.solve(torch.from_numpy(rows), given).numpy()
    assert np.array_equal(given.numpy(), codes), "the codes that were given are left alone"

    targets, outputs = targets[rows], memory.outputs[rows].numpy().astype(float)
    stacked = np.vstack([codes, np.sqrt(nu / mu) * np.eye(BITS)])
    wanted = np.vstack([targets, np.zeros((BITS, CLASSES))])
    classifier = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    for _ in range(3):
        for bit in range(BITS):
            for item in range(20):
                flipped = codes.copy()
                flipped[item, bit] *= -1
                costs = [energy(some, classifier, targets, outputs, mu, eta) for some in (codes, flipped)]
                codes = flipped if costs[1] < costs[0] else codes
    np.testing.assert_array_equal(solved, codes)


def test_a_bit_that_nothing_pulls_stays():
    codes = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    nothing = torch.zeros(2, 2), torch.zeros(2, 2), torch.zeros(2, 2)
    assert torch.equal(descend(codes, *nothing, mu=1.0, eta=1.0), codes)


def test_parts_are_named_and_unlabelled_items_left_out(state):
    _, _, outputs, labels = state
    memory = CodeMemory(np.arange(ITEMS), BITS, steps=1)
    objective = DSDH(LOSSES.find("dpsh").build(BITS), labels, memory)
    assert (objective.mu, objective.nu, objective.eta) == (1.0, 0.1, 1.0), "as in the paper's formula"
    known = ~np.eye(ITEMS, dtype=bool)
    similar = (labels[:, None] == labels[None, :]) & known
    more = np.concatenate([outputs, np.full((2, BITS), 9.0)])
    figures = objective(make_step(more, known, similar, positions=np.arange(ITEMS + 2))).figures()
    pull = ((memory.codes.numpy() - outputs) ** 2).mean()
    supervised = oracles.dpsh(outputs, similar, known, BITS)
    assert figures == pytest.approx({"loss": supervised + pull, "supervised": supervised, "pull": pull})
