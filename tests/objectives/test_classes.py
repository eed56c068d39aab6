"""Classes beside pairs, against cross-entropy written out in float64."""

import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.classes import SURE, Classes
from pts3h.objectives.pts3h import PTS3H

from ..losses import oracles
from .steps import make_step

BITS, LABELLED, ITEMS, KINDS = 6, 4, 12, 3
LABELS = {
    "one": np.array([0, 1, 2, 0] + [-1] * 8),
    "several": np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]] + [[-1, -1, -1]] * 8),
}


@pytest.fixture(params=LABELS)
def world(request):
    """Classes with weights of some size, so that some guesses are sure, and a batch."""
    rng = np.random.default_rng(0)
    classes = Classes(LABELS[request.param], BITS)
    weights, bias = 4 * rng.normal(size=(KINDS, BITS)), rng.normal(size=KINDS)
    classes.classifier.double()
    with torch.no_grad():
        classes.classifier.layer.weight.copy_(torch.from_numpy(weights))
        classes.classifier.layer.bias.copy_(torch.from_numpy(bias))
    outputs, taught = rng.normal(size=(2, ITEMS, BITS))

    def logits(rows):
        return np.tanh(rows) @ weights.T + bias

    return request.param, classes, outputs, taught, logits


def step_of(outputs, taught, **more):
    known = ~np.eye(LABELLED, dtype=bool)
    return make_step(outputs, known, known, teacher=taught, **more)


def chances_of(kind, logits):
    if kind == "several":
        return 1 / (1 + np.exp(-logits))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def known_loss(kind, outputs, logits):
    chances, labels = chances_of(kind, logits(outputs[:LABELLED])), LABELS[kind][:LABELLED]
    if kind == "one":
        return np.mean([-np.log(chances[item, labels[item]]) for item in range(LABELLED)])
    return np.mean(-np.log(np.where(labels == 1, chances, 1 - chances)))


def guessed_loss(kind, outputs, taught, logits):
    own, guess = (chances_of(kind, logits(rows[LABELLED:])) for rows in (outputs, taught))
    costs = []
    for mine, theirs in zip(own, guess, strict=True):
        if kind == "one":
            best = theirs.argmax()
            costs.append(-np.log(mine[best]) if theirs[best] >= SURE else 0.0)
        else:
            for chance, said in zip(mine, theirs, strict=True):
                sure = said >= SURE or said <= 1 - SURE
                costs.append(-np.log(chance if said > 0.5 else 1 - chance) if sure else 0.0)
    assert 0 < np.count_nonzero(costs) < len(costs)  # some count and some do not
    return np.mean(costs)


def test_known_classes(world):
    kind, classes, outputs, taught, logits = world
    found = classes.known(step_of(outputs, taught)).item()
    assert found == pytest.approx(known_loss(kind, outputs, logits))


def test_guessed_classes_and_their_gradient(world):
    kind, classes, outputs, taught, logits = world
    rows, teacher = (torch.from_numpy(part).requires_grad_() for part in (outputs, taught))
    found = classes.guessed(step_of(rows, teacher))
    assert found.item() == pytest.approx(guessed_loss(kind, outputs, taught, logits))
    found.backward()
    assert teacher.grad is None and not rows.grad[:LABELLED].any()
    expected = oracles.gradient(lambda at: guessed_loss(kind, at, taught, logits), outputs)
    np.testing.assert_allclose(rows.grad.numpy(), expected, atol=1e-6)


def test_a_batch_of_one_part_alone(world):
    _, classes, outputs, taught, _ = world
    everything = np.ones((ITEMS, ITEMS), bool)
    assert classes.guessed(make_step(outputs, everything, everything, teacher=taught)).item() == 0
    nothing = np.ones((0, 0), bool)
    assert classes.known(make_step(outputs, nothing, nothing, teacher=taught)).item() == 0


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_they_join_the_loss_of_the_paper(world, weight):
    """The guesses grow as omega does."""
    kind, classes, outputs, taught, logits = world
    shared = {"pairwise": LOSSES.find("dsh").build(BITS), "omega": 0.8, "eta": 0.004}
    shared |= {"gamma": 0.5, "similar_share": 0.3}
    step = step_of(outputs, taught, weight=weight)
    plain, both = PTS3H(**shared), PTS3H(**shared, class_weight=0.7, classes=classes)
    expected = known_loss(kind, outputs, logits) + weight * guessed_loss(kind, outputs, taught, logits)
    assert both(step).total.item() == pytest.approx(plain(step).total.item() + 0.7 * expected)
    figures = both(step).figures()
    assert figures["loss"] == pytest.approx(both(step).total.item())
    assert figures["classes"] == pytest.approx(known_loss(kind, outputs, logits))
    guesses = {"guessed": pytest.approx(guessed_loss(kind, outputs, taught, logits))} if weight else {}
    assert {name: value for name, value in figures.items() if name == "guessed"} == guesses
    assert [*map(id, both.parameters())] == [*map(id, classes.classifier.parameters())]
    assert not plain.parameters()


def test_guesses_need_the_teacher_where_neighbours_say_all_else(world):
    shared = {"pairwise": LOSSES.find("dsh").build(BITS), "omega": 0.8, "eta": 0.0}
    shared |= {"gamma": 0.5, "similar_share": 0.3, "neighbours": 1.0}
    assert not PTS3H(**shared).needs_teacher
    assert PTS3H(**shared, class_weight=0.5, classes=world[1]).needs_teacher
