"""DHN, HashNet and MIHash against loops in float64, and what each is known for."""

import math

import numpy as np
import pytest
import torch

from pts3h.losses.consistency import cosines
from pts3h.losses.dhn import DHN, log_cosh
from pts3h.losses.hashnet import HashNet
from pts3h.losses.mihash import MIHash, mutual_information
from pts3h.losses.table import LOSSES

from . import oracles

BITS, BINS = 6, 4


@pytest.fixture
def batch():
    rng = np.random.default_rng(1)
    known, similar = oracles.masks(rng, 8, share=0.8)
    return rng.normal(size=(8, BITS)) * 1.5, known, similar


def dhn(outputs, known, similar):
    members = [i for i in range(len(known)) if known[i].any()]
    rounding = np.mean([np.log(np.cosh(np.abs(outputs[i]) - 1)).mean() for i in members])
    return oracles.dpsh(outputs, similar, known, BITS) + 0.5 * rounding


def balanced(known, similar, u):
    """Mean over pairs of w (log(1 + e^u) - s u), w = pairs / pairs of the kind."""
    pairs = oracles.pairs_of(known)
    alike = sum(bool(similar[i, j]) for i, j in pairs)
    total = 0.0
    for i, j in pairs:
        weight = len(pairs) / (alike if similar[i, j] else len(pairs) - alike)
        total += weight * (np.logaddexp(0, u(i, j)) - similar[i, j] * u(i, j))
    return total / len(pairs)


def hashnet(outputs, known, similar, beta):
    soft = np.tanh(beta * outputs)
    return balanced(known, similar, lambda i, j: 10 / BITS * float(soft[i] @ soft[j]))


def mihash(distance, known, similar):
    """Minus H(D) - H(D given C), anchor by anchor, with triangular bins; distances are shares of the bits."""
    values = []
    for anchor in range(len(known)):
        histogram = {True: np.zeros(BINS + 1), False: np.zeros(BINS + 1)}
        others = [j for j in range(len(known)) if known[anchor, j]]
        if not others:
            continue
        for j in others:
            for centre in range(BINS + 1):
                share = max(0.0, 1 - abs(distance[anchor, j] * BINS - centre))
                histogram[bool(similar[anchor, j])][centre] += share

        def entropy(counts):
            shares = counts[counts > 0] / counts.sum()
            return float(-(shares * np.log(shares)).sum()) if counts.sum() else 0.0

        information = entropy(histogram[True] + histogram[False])
        for kind in (True, False):
            information -= histogram[kind].sum() / len(others) * entropy(histogram[kind])
        values.append(information)
    return -float(np.mean(values))


def soft_share(outputs):
    soft = 2 / (1 + np.exp(-outputs)) - 1
    return (BITS - soft @ soft.T) / 2 / BITS


def cosine_share(outputs):
    count = range(len(outputs))
    return np.array([[(1 - oracles.cosine(outputs, i, j)) / 2 for j in count] for i in count])


CASES = {
    "dhn": (DHN(BITS, rounding=0.5), dhn),
    "hashnet": (HashNet(BITS, beta=1.3), lambda o, k, s: hashnet(o, k, s, 1.3)),
    "mihash": (MIHash(BITS, bins=BINS, slope=1.0), lambda o, k, s: mihash(soft_share(o), k, s)),
}


@pytest.mark.parametrize("name", CASES)
def test_supervised_value_and_gradient(name, batch):
    outputs, known, similar = batch
    loss, oracle = CASES[name]
    variable = torch.tensor(outputs, requires_grad=True)
    value = loss.supervised(variable, torch.from_numpy(similar), torch.from_numpy(known))
    value.backward()
    assert value.item() == pytest.approx(oracle(outputs, known, similar), abs=1e-6)
    numeric = oracles.gradient(lambda at: oracle(at, known, similar), outputs)
    np.testing.assert_allclose(variable.grad.numpy(), numeric, atol=1e-5)


PSEUDO = {
    "dhn": (DHN(BITS), lambda o, k, s: oracles.pseudo_dpsh(o, s, k, lambda cos: 2 * cos - 2)),
    "hashnet": (
        HashNet(BITS, reading="code"),
        lambda o, k, s: balanced(k, s, lambda i, j: 10 * oracles.cosine(o, i, j)),
    ),
    "hashnet, literal": (
        HashNet(BITS, reading="literal"),
        lambda o, k, s: balanced(k, s, lambda i, j: 2 * oracles.cosine(o, i, j) - 2),
    ),
    "mihash": (
        MIHash(BITS, bins=BINS, slope=1.0),
        lambda o, k, s: mihash(cosine_share(o), k, s),
    ),
}


@pytest.mark.parametrize("name", PSEUDO)
def test_pseudo_value_and_gradient(name, batch):
    outputs, unknown, similar = batch
    loss, oracle = PSEUDO[name]
    variable = torch.tensor(outputs, requires_grad=True)
    value = loss.pseudo(cosines(variable), torch.from_numpy(similar), torch.from_numpy(unknown))
    value.backward()
    assert value.item() == pytest.approx(oracle(outputs, unknown, similar), abs=1e-6)
    numeric = oracles.gradient(lambda at: oracle(at, unknown, similar), outputs)
    np.testing.assert_allclose(variable.grad.numpy(), numeric, atol=1e-5)


def test_betas_of_hashnet_grow_with_the_step_and_sharpen_the_codes():
    loss = LOSSES.find("hashnet").build(BITS)
    betas = [loss.at(step).beta for step in (1, 10, 100, 1000)]
    assert betas == sorted(betas) and betas[0] < betas[-1]
    assert betas[-1] == pytest.approx(math.sqrt(1 + 0.005 * 1000))


def test_other_losses_stay_the_same_at_every_step():
    loss = LOSSES.find("dsh").build(BITS)
    assert loss.at(1) is loss.at(1000) is loss


def test_hashnet_weighs_both_kinds_of_pairs_the_same():
    """With outputs of zero every pair costs log 2; the rare similar ones cost as much as all the others."""
    similar = torch.zeros(6, 6, dtype=torch.bool)
    similar[0, 1] = similar[1, 0] = True
    known = ~torch.eye(6, dtype=torch.bool)
    loss = HashNet(BITS).supervised(torch.zeros(6, BITS), similar, known)
    assert loss.item() == pytest.approx(2 * math.log(2))


def test_information_of_mihash_is_at_most_the_entropy_of_similarity_and_zero_without_order():
    classes = torch.arange(8) % 2
    similar, known = classes[:, None] == classes[None, :], ~torch.eye(8, dtype=torch.bool)
    apart = torch.where(classes[:, None] == 0, 4.0, -4.0).expand(8, BITS).double()
    share = 3 / 7  # of the others that are alike
    highest = -(share * math.log(share) + (1 - share) * math.log(1 - share))
    assert -MIHash(BITS).supervised(4 * apart, similar, known).item() == pytest.approx(highest, abs=1e-3)
    assert MIHash(BITS).supervised(torch.ones(8, BITS), similar, known).item() == pytest.approx(0, abs=1e-6)


def test_mihash_falls_as_classes_separate():
    """The loss is the NEGATIVE information: a minimiser must be led to classes that stand apart."""
    classes = torch.arange(8) % 2
    similar, known = classes[:, None] == classes[None, :], ~torch.eye(8, dtype=torch.bool)
    side = torch.where(classes == 0, 1.0, -1.0)[:, None]
    noise = torch.randn(8, BITS, generator=torch.Generator().manual_seed(0))
    loss = MIHash(BITS, slope=1.0)
    losses = [loss.supervised(gap * side + noise, similar, known).item() for gap in (0, 0.5, 1, 1.5)]
    assert losses == sorted(losses, reverse=True)
    outputs = (0.5 * side + noise).requires_grad_()
    start = loss.supervised(outputs, similar, known)
    (slope,) = torch.autograd.grad(start, outputs)
    assert loss.supervised(outputs - 0.1 * slope, similar, known) < start


@pytest.mark.parametrize("name", ["dhn", "hashnet", "mihash"])
def test_nothing_known_costs_nothing_and_large_outputs_stay_finite(name):
    loss = LOSSES.find(name).build(BITS)
    nothing, everything = torch.zeros(3, 3, dtype=torch.bool), ~torch.eye(3, dtype=torch.bool)
    assert loss.supervised(torch.ones(3, BITS), nothing, nothing).item() == 0
    assert loss.pseudo(torch.ones(3, 3), nothing, nothing).item() == 0
    assert torch.isfinite(loss.supervised(torch.full((3, BITS), 300.0), everything, everything))


def test_gradients_of_empty_bins_are_finite():
    distance = torch.zeros(3, 3, requires_grad=True)
    known = ~torch.eye(3, dtype=torch.bool)
    mutual_information(distance, known, known, BINS).backward()
    assert torch.isfinite(distance.grad).all()


def test_log_cosh_is_log_cosh():
    x = torch.linspace(-5, 5, 21, dtype=torch.float64)
    torch.testing.assert_close(log_cosh(x), torch.log(torch.cosh(x)))
