import numpy as np
import pytest
import torch

from pts3h.losses.quantization import quantization

from . import oracles


def test_value_and_gradient():
    outputs = np.random.default_rng(0).normal(size=(5, 7)) * 2
    variable = torch.from_numpy(outputs).requires_grad_()
    loss = quantization(variable)
    loss.backward()
    assert loss.item() == pytest.approx(oracles.quantization(outputs), abs=1e-6)
    expected = oracles.gradient(oracles.quantization, outputs)
    np.testing.assert_allclose(variable.grad.numpy(), expected, atol=1e-6)


def test_codes_cost_nothing():
    assert quantization(torch.tensor([[1.0, -1.0, 1.0]])).item() == 0


def test_zero_is_pulled_to_plus_one():
    zero = torch.zeros(1, 1, requires_grad=True)
    quantization(zero).backward()
    assert zero.grad.item() == -1
