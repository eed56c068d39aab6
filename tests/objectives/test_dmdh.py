import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.dmdh import DMDH

from ..losses import oracles
from .steps import make_step

ITEMS, BITS = 6, 4


@pytest.fixture
def batch():
    rng = np.random.default_rng(2)
    known, similar = oracles.masks(rng, ITEMS, share=0.9)
    return rng.normal(size=(ITEMS, BITS)), known, similar


def test_codes_minimise_the_expansion_among_all_codes(batch):
    outputs, _, _ = batch
    slope = np.random.default_rng(4).normal(size=outputs.shape) * 0.05
    tie = 0.3
    objective = DMDH(LOSSES.find("dpsh").build(BITS), tie=tie)
    best = objective.best_codes(torch.from_numpy(outputs), torch.from_numpy(slope)).numpy()

    def expansion(row, item):
        away = row - outputs[item]
        return slope[item] @ away + tie * (away @ away) / ITEMS

    corners = 1.0 - 2 * ((np.arange(2**BITS)[:, None] >> np.arange(BITS)) & 1)
    for item in range(ITEMS):
        least = min(expansion(corner, item) for corner in corners)
        assert expansion(best[item], item) == pytest.approx(least)


def test_value_and_gradient_with_the_codes_held(batch):
    outputs, known, similar = batch
    tie = 0.1
    variable = torch.tensor(outputs, requires_grad=True)
    terms = DMDH(LOSSES.find("dpsh").build(BITS), tie=tie)(make_step(variable, known, similar))
    terms.total.backward()
    slope = oracles.gradient(lambda at: oracles.dpsh(at, similar, known, BITS), outputs)
    codes = np.where(outputs - ITEMS / (2 * tie) * slope >= 0, 1.0, -1.0)

    def oracle(at):
        return oracles.dpsh(at, similar, known, BITS) + tie * ((codes - at) ** 2).sum(axis=1).mean()

    assert terms.total.item() == pytest.approx(oracle(outputs), abs=1e-6)
    np.testing.assert_allclose(variable.grad.numpy(), oracles.gradient(oracle, outputs), atol=1e-6)


def test_unlabelled_items_are_left_out_and_parts_are_named(batch):
    outputs, known, similar = batch
    tie = 0.1
    more = np.concatenate([outputs, np.full((3, BITS), 50.0)])
    variable = torch.tensor(more, requires_grad=True)
    figures = DMDH(LOSSES.find("dpsh").build(BITS), tie=tie)(make_step(variable, known, similar)).figures()
    slope = oracles.gradient(lambda at: oracles.dpsh(at, similar, known, BITS), outputs)
    codes = np.where(outputs - ITEMS / (2 * tie) * slope >= 0, 1.0, -1.0)
    supervised = oracles.dpsh(outputs, similar, known, BITS)
    discrepancy = ((codes - outputs) ** 2).sum(axis=1).mean()
    expected = {"loss": supervised + tie * discrepancy, "supervised": supervised, "discrepancy": discrepancy}
    assert figures == pytest.approx(expected)
