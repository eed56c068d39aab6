import numpy as np
import pytest
import torch

from pts3h.losses.squared_contrast import squared_contrast

from . import oracles

MARGIN = 1.4


@pytest.fixture
def batch():
    rng = np.random.default_rng(5)
    return rng.normal(size=(8, 3)), *oracles.masks(rng, 8)


def expected(rows, mask, similar):
    """d² where alike, max(0, margin - d)² elsewhere, mean over pairs."""

    def cost(i, j):
        distance = float(np.linalg.norm(rows[i] - rows[j]))
        return distance**2 if similar[i, j] else max(0.0, MARGIN - distance) ** 2

    return oracles.mean_over(mask, cost)


def contrast(rows, mask, similar):
    square = (rows[:, None] - rows[None]).square().sum(2)
    return squared_contrast(square, torch.from_numpy(similar), MARGIN, torch.from_numpy(mask))


def test_value_and_gradient(batch):
    rows, mask, similar = batch
    variable = torch.tensor(rows, requires_grad=True)
    loss = contrast(variable, mask, similar)
    loss.backward()
    assert loss.item() == pytest.approx(expected(rows, mask, similar), abs=1e-9)
    numeric = oracles.gradient(lambda at: expected(at, mask, similar), rows)
    np.testing.assert_allclose(variable.grad.numpy(), numeric, atol=1e-6)
    assert np.abs(numeric).max() > 1e-2


def test_items_at_one_place_have_a_finite_gradient():
    variable = torch.zeros(2, 3, requires_grad=True)
    apart = ~np.eye(2, dtype=bool)
    loss = contrast(variable, apart, np.zeros((2, 2), bool))
    loss.backward()
    assert loss.item() == pytest.approx(MARGIN**2, rel=2e-3), "as far from the margin as can be"
    assert torch.isfinite(variable.grad).all()


def test_a_mean_over_one_pair_and_over_none(batch):
    rows, mask, similar = batch
    nothing = np.zeros_like(mask)
    assert contrast(torch.from_numpy(rows), nothing, similar).item() == 0
    one = nothing.copy()
    one[0, 1] = True
    distance = np.linalg.norm(rows[0] - rows[1])
    value = contrast(torch.from_numpy(rows), one, np.ones_like(mask)).item()
    assert value == pytest.approx(distance**2)
