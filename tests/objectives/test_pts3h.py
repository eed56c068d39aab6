import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.objective import unknown_pairs
from pts3h.objectives.pts3h import PTS3H

from ..losses import oracles
from .steps import make_step

BITS, LABELLED, COUNT = 6, 4, 10


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    outputs, teacher = rng.normal(size=(2, COUNT, BITS))
    known, similar = oracles.masks(rng, LABELLED, share=0.8)
    return outputs, teacher, known, similar


def make_objective(**settings):
    defaults = {"omega": 0.8, "gamma": 0.5, "eta": 0.004, "similar_share": 0.3}
    return PTS3H(pairwise=LOSSES.find("dsh").build(BITS), **(defaults | settings))


def compute(objective, batch, weight=0.5):
    outputs, teacher, known, similar = (torch.from_numpy(array) for array in batch)
    outputs.requires_grad_()
    teacher.requires_grad_()
    terms = objective(make_step(outputs, known, similar, teacher=teacher, weight=weight))
    terms.total.backward()
    assert teacher.grad is None
    return terms, outputs.grad.numpy()


def oracle(outputs, teacher, known, similar, *, omega, gamma, eta, rho, consistency=True):
    """L of the paper with DSH, from the formulas alone."""
    loss = oracles.dsh(outputs[:LABELLED], similar, known, BITS) / BITS + eta * oracles.quantization(outputs)
    unknown = ~np.eye(COUNT, dtype=bool)
    unknown[:LABELLED, :LABELLED] &= ~known
    sim = np.array([[-oracles.unit_distance(teacher, i, j) for j in range(COUNT)] for i in range(COUNT)])
    threshold = np.quantile([sim[i, j] for i, j in oracles.pairs_of(unknown)], 1 - rho, method="higher")
    unlabelled = gamma * oracles.pseudo_dsh(outputs, sim >= threshold - 1e-9, unknown, margin=2)
    if consistency:
        unlabelled += oracles.consistent(outputs, teacher)
    return loss + omega * unlabelled, threshold


@pytest.mark.parametrize("consistency", [True, False])
@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_whole_loss_and_gradient(batch, gamma, consistency):
    objective = make_objective(omega=0.8, gamma=gamma, consistency=consistency)
    terms, gradient = compute(objective, batch)
    settings = {"omega": 0.4, "gamma": gamma, "eta": 0.004, "rho": 0.3, "consistency": consistency}
    expected, threshold = oracle(*batch, **settings)
    assert terms.total.item() == pytest.approx(expected, abs=1e-6)
    if gamma:
        assert terms.named["threshold"] == pytest.approx(threshold, abs=1e-6)
    numeric = oracles.gradient(lambda at: oracle(at, *batch[1:], **settings)[0], batch[0])
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_supervised_baseline_needs_no_teacher(batch):
    objective = make_objective(omega=0.0)
    assert not objective.needs_teacher and not objective.needs_unlabelled
    outputs, _, known, similar = (torch.from_numpy(array) for array in batch)
    terms = objective(make_step(outputs, known, similar))
    supervised = oracles.dsh(batch[0][:LABELLED], batch[3], batch[2], BITS) / BITS
    assert terms.total.item() == pytest.approx(supervised + 0.004 * oracles.quantization(batch[0]), abs=1e-6)


def test_unknown_pairs_are_the_rest():
    known = torch.tensor([[0, 1], [1, 0]], dtype=torch.bool)
    unknown = unknown_pairs(known, 4)
    assert not unknown.diagonal().any()
    assert not unknown[0, 1] and not unknown[1, 0]
    assert unknown.sum() == 4 * 3 - 2
    assert not known.diagonal().any(), "the input is left as it was"


def test_default_batch_has_fifteen_unknown_pairs_for_each_known_one():
    """(128² - 32²) / 32² = 15, the paper's ratio, counted with the diagonal as the paper counts."""
    assert (128**2 - 32**2) / 32**2 == 15
    known = ~torch.eye(32, dtype=torch.bool)
    assert unknown_pairs(known, 128).sum().item() == 128**2 - 32**2 - (128 - 32)


def similarities(positions):
    """A guide made up for the test: symmetric, and its own for every two items."""
    return torch.cos(torch.from_numpy(np.add.outer(positions, positions).astype(float))).fill_diagonal_(1)


def guided_consistency(outputs, teacher, weight):
    """Mean of (sim - wanted)² over ordered pairs, where a similarity is 2 cos - 2."""
    total = 0.0
    for i in range(COUNT):
        for j in range(COUNT):
            if i != j:
                said = (1 - weight) * oracles.cosine(teacher, i, j) + weight * np.cos(i + j)
                total += (2 * oracles.cosine(outputs, i, j) - 2 * said) ** 2
    return total / (COUNT * (COUNT - 1))


@pytest.mark.parametrize(
    ("neighbours", "fade", "number", "weight"),
    [(0.7, 0, 1, 0.7), (0.7, 0, 9999, 0.7), (1.0, 10, 4, 0.6), (0.5, 10, 4, 0.3), (0.7, 10, 25, 0.0)],
)
def test_neighbours_teach_beside_the_teacher_and_give_way_to_it(batch, neighbours, fade, number, weight):
    outputs, teacher, known, similar = batch
    objective = make_objective(gamma=0.0, neighbours=neighbours, fade=fade, guide=similarities)
    assert objective.needs_teacher
    loss, _ = objective.regulariser(make_step(outputs, known, similar, teacher=teacher, number=number))
    assert loss.item() == pytest.approx(guided_consistency(outputs, teacher, weight), abs=1e-9)


def test_neighbours_alone_need_no_teacher(batch):
    outputs, teacher, known, similar = batch
    objective = make_objective(gamma=0.0, neighbours=1.0, guide=similarities)
    assert objective.needs_unlabelled and not objective.needs_teacher
    loss, _ = objective.regulariser(make_step(outputs, known, similar))
    assert loss.item() == pytest.approx(guided_consistency(outputs, teacher, 1.0), abs=1e-9)
    assert make_objective(neighbours=1.0, fade=1, guide=similarities).needs_teacher, "it follows them"


def test_neighbours_that_are_not_there_leave_it_to_the_teacher(batch):
    outputs, teacher, known, similar = batch
    objective = make_objective(gamma=0.0, neighbours=0.7)
    loss, _ = objective.regulariser(make_step(outputs, known, similar, teacher=teacher))
    assert loss.item() == pytest.approx(guided_consistency(outputs, teacher, 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, True),
        ({"omega": 0.0}, False),
        ({"gamma": 0.0}, True),
        ({"consistency": False}, True),
        ({"consistency": False, "gamma": 0.0}, False),
    ],
)
def test_unlabelled_items_are_wanted_where_they_say_something(settings, needed):
    objective = make_objective(**settings)
    assert objective.needs_unlabelled is objective.needs_teacher is needed


def test_the_parts_go_into_the_history_by_name(batch):
    outputs, teacher, known, similar = batch
    terms = make_objective(omega=0.8)(make_step(outputs, known, similar, teacher=teacher, weight=0.25))
    figures = terms.figures()
    whole, _ = oracle(*batch, omega=0.2, gamma=0.5, eta=0.004, rho=0.3)
    unlabelled, _ = oracle(*batch, omega=1.0, gamma=1.0, eta=0.0, rho=0.3, consistency=False)
    supervised = oracles.dsh(outputs[:LABELLED], similar, known, BITS) / BITS
    expected = {
        "loss": whole,
        "supervised": supervised,
        "quantization": oracles.quantization(outputs),
        "consistent": oracles.consistent(outputs, teacher),
        "quantized": unlabelled - supervised,
        "omega": 0.2,
    }
    assert figures.keys() == expected.keys() | {"threshold"}
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value, abs=1e-6), name


def test_without_a_part_there_is_no_figure_of_it(batch):
    outputs, teacher, known, similar = batch
    step = make_step(outputs, known, similar, teacher=teacher)
    assert "consistent" not in make_objective(consistency=False)(step).named
    assert {"quantized", "threshold"}.isdisjoint(make_objective(gamma=0.0)(step).named)


def test_losses_that_change_with_the_step_do_so_for_unlabelled_pairs_as_well(batch):
    class Stepwise:
        def at(self, step):
            return LOSSES.find("dsh").build(BITS, reading="literal" if step == 3 else "code")

    outputs, teacher, known, similar = batch
    objective = make_objective(omega=1.0, gamma=1.0, eta=0.0, consistency=False)
    objective.pairwise = Stepwise()
    costs = [objective(make_step(outputs, known, similar, teacher=teacher, number=n)).total for n in (2, 3)]
    assert costs[1] > costs[0], "a margin of 2b instead of 2"
