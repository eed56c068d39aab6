import numpy as np
import pytest
import torch

from pts3h.losses.squared_contrast import squared_contrast
from pts3h.objectives.ssdh import SSDH, nearest_in_batch
from pts3h.objectives.triplets import soft_distances, triplet_hinge

from ..losses import oracles
from .steps import make_step

ITEMS, LABELLED, BITS = 9, 5, 6


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    labels = np.array([0, 0, 1, 1, 2, -1, -1, -1, -1])
    known = ~np.eye(LABELLED, dtype=bool)
    similar = (labels[:LABELLED, None] == labels[None, :LABELLED]) & known
    return rng.normal(size=(ITEMS, BITS)), rng.normal(size=(ITEMS, 4)), labels, known, similar


def distances(outputs):
    soft = np.tanh(outputs)
    return ((soft[:, None] - soft[None]) ** 2).sum(axis=2) / BITS


def triplets(distance, known, similar, margin):
    costs = [
        max(0.0, margin + distance[a, p] - distance[a, n])
        for a in range(len(known))
        for p in range(len(known))
        for n in range(len(known))
        if known[a, p] and similar[a, p] and known[a, n] and not similar[a, n]
    ]
    return float(np.mean(costs))


def contrast(distance, similar, mask, margin):
    return oracles.mean_over(
        mask,
        lambda i, j: distance[i, j] if similar[i, j] else max(0.0, margin - np.sqrt(distance[i, j])) ** 2,
    )


def test_triplet_hinge_is_the_mean_over_triplets(batch):
    outputs, _, _, known, similar = batch
    distance = soft_distances(torch.from_numpy(outputs), torch.from_numpy(outputs))[:LABELLED, :LABELLED]
    value = triplet_hinge(distance, torch.from_numpy(similar), torch.from_numpy(known), 1.0)
    assert value.item() == pytest.approx(triplets(distances(outputs), known, similar, 1.0))


def test_neighbours_are_the_nearest_either_way(batch):
    rows = batch[1]
    near = nearest_in_batch(torch.from_numpy(rows), 2).numpy()
    square = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    for i in range(ITEMS):
        for j in range(ITEMS):
            expected = j in np.argsort(square[i])[:2] or i in np.argsort(square[j])[:2]
            assert near[i, j] == (expected and i != j)


def test_contrast_value_and_gradient(batch):
    outputs, _, _, _, _ = batch
    rng = np.random.default_rng(1)
    mask, similar = oracles.masks(rng, ITEMS)
    variable = torch.tensor(outputs, requires_grad=True)
    similar_t, mask_t = torch.from_numpy(similar), torch.from_numpy(mask)
    loss = squared_contrast(soft_distances(variable, variable), similar_t, 1.4, mask_t)
    loss.backward()

    def oracle(at):
        return contrast(distances(at), similar, mask, 1.4)

    assert loss.item() == pytest.approx(oracle(outputs))
    np.testing.assert_allclose(variable.grad.numpy(), oracles.gradient(oracle, outputs), atol=1e-6)


def test_whole_loss(batch):
    outputs, inputs, labels, known, similar = batch
    torch.manual_seed(0)
    objective = SSDH(labels, BITS, omega=0.3, eta=0.01, neighbours=2)
    objective.classifier.double()
    terms = objective(make_step(outputs, known, similar, inputs=inputs, weight=0.5))

    distance, soft = distances(outputs), np.tanh(outputs)
    weight = objective.classifier.layer.weight.detach().numpy()
    bias = objective.classifier.layer.bias.detach().numpy()
    logits = soft @ weight.T + bias
    chosen = logits[np.arange(LABELLED), labels[:LABELLED]]
    classification = np.mean(np.log(np.exp(logits[:LABELLED]).sum(axis=1)) - chosen)
    predicted = np.where(labels >= 0, labels, logits.argmax(axis=1))
    unknown = ~np.eye(ITEMS, dtype=bool)
    unknown[:LABELLED, :LABELLED] = False
    near = nearest_in_batch(torch.from_numpy(inputs), 2).numpy()
    graphs = contrast(distance, near, unknown, 2**0.5)
    graphs += contrast(distance, predicted[:, None] == predicted[None, :], unknown, 2**0.5)
    expected = (
        triplets(distance, known, similar, 1.0)
        + classification
        + 0.3 * 0.5 * graphs
        + 0.01 * oracles.quantization(outputs)
    )
    assert terms.total.item() == pytest.approx(expected, abs=1e-6)


def test_the_parts_by_name_and_the_defaults_of_the_paper(batch):
    """Five neighbours, a margin of 1 between triplets, sqrt(2) in the graphs; all items count in rounding."""
    outputs, inputs, labels, known, similar = batch
    objective = SSDH(labels, BITS)
    objective.classifier.double()
    figures = objective(make_step(outputs, known, similar, inputs=inputs)).figures()
    distance = distances(outputs)
    unknown = ~np.eye(ITEMS, dtype=bool)
    unknown[:LABELLED, :LABELLED] = False
    square = ((inputs[:, None] - inputs[None]) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    near = np.zeros((ITEMS, ITEMS), bool)
    np.put_along_axis(near, np.argsort(square, axis=1)[:, :5], True, axis=1)
    assert figures.keys() == {"loss", "supervised", "classification", "neighbourhood", "pseudo"}
    assert figures["supervised"] == pytest.approx(triplets(distance, known, similar, 1.0))
    assert figures["neighbourhood"] == pytest.approx(contrast(distance, near | near.T, unknown, 2**0.5))
    graphs = figures["neighbourhood"] + figures["pseudo"]
    rest = figures["loss"] - figures["supervised"] - figures["classification"]
    assert rest == pytest.approx(objective.omega * graphs + objective.eta * oracles.quantization(outputs))


def test_neighbours_of_pictures_and_of_a_small_batch():
    pictures = torch.randn(3, 2, 4, 4)
    near = nearest_in_batch(pictures.flatten(1), 5)
    assert torch.equal(near, ~torch.eye(3, dtype=torch.bool)), "all others, where there are not five"
    labels = np.array([0, 1, 0])
    known = ~np.eye(3, dtype=bool)
    step = make_step(torch.randn(3, BITS), known, labels[:, None] == labels[None, :], inputs=pictures)
    assert torch.isfinite(SSDH(labels, BITS)(step).total)


def test_a_triplet_without_partners_costs_nothing_and_one_triplet_counts_whole():
    nothing, everything = torch.zeros(2, 2, dtype=torch.bool), ~torch.eye(2, dtype=torch.bool)
    assert triplet_hinge(torch.ones(2, 2), everything, everything, 1.0).item() == 0
    assert triplet_hinge(torch.ones(2, 2), nothing, everything, 1.0).item() == 0
    distance = torch.tensor([[0.0, 0.5, 0.75], [0.5, 0.0, 9.0], [0.75, 9.0, 0.0]])
    similar = torch.zeros(3, 3, dtype=torch.bool)
    similar[0, 1] = True
    known = torch.zeros(3, 3, dtype=torch.bool)
    known[0, 1:] = True
    assert triplet_hinge(distance, similar, known, 1.0).item() == pytest.approx(1 + 0.5 - 0.75)


def test_distances_of_anchors_to_other_items():
    rng = np.random.default_rng(2)
    outputs, others = rng.normal(size=(3, BITS)), rng.normal(size=(5, BITS))
    expected = ((np.tanh(outputs)[:, None] - np.tanh(others)[None]) ** 2).sum(axis=2) / BITS
    got = soft_distances(torch.from_numpy(outputs), torch.from_numpy(others))
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-12)
