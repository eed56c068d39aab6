from itertools import pairwise

import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.class_targets import Classifier, class_targets
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


def test_items_without_a_code_are_not_pulled():
    memory = CodeMemory(np.array([2, 5, 9]), BITS, steps=1)
    memory.remember(np.array([5]), torch.ones(1, BITS))
    assert not memory.due, "two items were not seen yet"
    memory.infer(lambda rows, codes: -codes)
    assert memory.codes[1].tolist() == [-1.0] * BITS
    assert memory.codes[[0, 2]].abs().sum() == 0
    assert memory.pull(np.array([2, 9]), torch.ones(2, BITS)).item() == 0
    assert memory.pull(np.array([5]), torch.ones(1, BITS)).item() == 4


def test_codes_are_inferred_about_twenty_times_in_a_run():
    memory, times = CodeMemory(np.arange(4), BITS, steps=400), 0
    for _ in range(400):
        memory.remember(np.arange(4), torch.ones(4, BITS))
        if memory.due:
            memory.infer(lambda rows, codes: codes)
            times += 1
    assert times == 20


def test_class_targets():
    assert class_targets(np.array([1, -1, 0])).tolist() == [[0, 1], [0, 0], [1, 0]]
    assert class_targets(np.array([[1, 1], [-1, -1]])).tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("several", [True, False])
def test_a_classifier_learns_and_predicts_rows_of_flags(several):
    torch.manual_seed(0)
    rows, classifier = torch.eye(3), Classifier(3, 3, several=several)
    optimizer = torch.optim.SGD(classifier.parameters(), lr=1.0)
    for _ in range(100):
        optimizer.zero_grad()
        classifier.loss(rows, rows).backward()
        optimizer.step()
    assert torch.equal(classifier.predict(rows), rows)
