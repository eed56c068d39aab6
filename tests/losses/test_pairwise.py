import numpy as np
import pytest
import torch

from pts3h import UserError
from pts3h.losses.consistency import cosines
from pts3h.losses.table import LOSSES

from . import oracles

BITS = 6
SCALE = {"dsh": BITS, "dpsh": 1, "ksh": BITS**2}
SUPERVISED = {"dsh": oracles.dsh, "dpsh": oracles.dpsh, "ksh": oracles.ksh}
PSEUDO = {
    ("dsh", "auto"): lambda o, s, u: oracles.pseudo_dsh(o, s, u, margin=2),
    ("dsh", "code"): lambda o, s, u: oracles.pseudo_dsh(o, s, u, margin=2),
    ("dsh", "literal"): lambda o, s, u: oracles.pseudo_dsh(o, s, u, margin=2 * BITS),
    ("dpsh", "auto"): lambda o, s, u: oracles.pseudo_dpsh(o, s, u, lambda cos: 2 * cos - 2),
    ("dpsh", "literal"): lambda o, s, u: oracles.pseudo_dpsh(o, s, u, lambda cos: 2 * cos - 2),
    ("dpsh", "code"): lambda o, s, u: oracles.pseudo_dpsh(o, s, u, lambda cos: BITS / 2 * cos),
    ("ksh", "auto"): lambda o, s, u: oracles.pseudo_ksh(o, s, u, lambda cos: cos),
    ("ksh", "code"): lambda o, s, u: oracles.pseudo_ksh(o, s, u, lambda cos: cos),
    ("ksh", "literal"): lambda o, s, u: oracles.pseudo_ksh(o, s, u, lambda cos: (2 * cos - 2) / BITS),
}


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, BITS)) * 1.5, *oracles.masks(rng, 7)


def tensors(*arrays):
    return tuple(torch.from_numpy(array) for array in arrays)


@pytest.mark.parametrize("name", SUPERVISED)
@pytest.mark.parametrize("divide", [True, False])
def test_supervised_value_and_gradient(name, divide, batch):
    outputs, known, similar = batch
    scale = SCALE[name] if divide else 1
    variable, known_t, similar_t = tensors(outputs, known, similar)
    variable.requires_grad_()

    loss = LOSSES.find(name).build(BITS, divide=divide).supervised(variable, similar_t, known_t)
    loss.backward()

    def oracle(at):
        return SUPERVISED[name](at, similar, known, BITS) / scale

    assert loss.item() == pytest.approx(oracle(outputs), abs=1e-6)
    np.testing.assert_allclose(variable.grad.numpy(), oracles.gradient(oracle, outputs), atol=1e-6)


@pytest.mark.parametrize(("name", "reading"), PSEUDO)
def test_pseudo_value_and_gradient(name, reading, batch):
    outputs, unknown, similar = batch
    variable, unknown_t, similar_t = tensors(outputs, unknown, similar)
    variable.requires_grad_()

    loss = LOSSES.find(name).build(BITS, reading=reading).pseudo(cosines(variable), similar_t, unknown_t)
    loss.backward()

    def oracle(at):
        return PSEUDO[name, reading](at, similar, unknown)

    assert loss.item() == pytest.approx(oracle(outputs), abs=1e-6)
    np.testing.assert_allclose(variable.grad.numpy(), oracles.gradient(oracle, outputs), atol=1e-6)


def test_what_is_read_literally_is_divided_as_the_supervised_loss_is(batch):
    outputs, unknown, similar = batch
    literal = oracles.pseudo_ksh(outputs, similar, unknown, lambda cos: (2 * cos - 2) / BITS) * BITS**2
    cosine, *masks = cosines(torch.from_numpy(outputs)), *tensors(similar, unknown)
    loss = LOSSES.find("ksh").build(BITS, divide=False, reading="literal").pseudo(cosine, *masks)
    assert loss.item() == pytest.approx(literal)


@pytest.mark.parametrize("name", SUPERVISED)
def test_the_loss_falls_when_known_pairs_are_placed_right(name):
    codes = torch.tensor([[1.0] * BITS, [1.0] * BITS, [-1.0] * BITS], dtype=torch.float64)
    known = ~torch.eye(3, dtype=torch.bool)
    right = torch.tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=torch.bool)
    loss = LOSSES.find(name).build(BITS)
    assert loss.supervised(codes, right, known) < loss.supervised(codes, ~right & known, known)
    assert loss.pseudo(cosines(codes), right, known) < loss.pseudo(cosines(codes), ~right & known, known)


@pytest.mark.parametrize("name", SUPERVISED)
def test_large_outputs_do_not_overflow(name):
    outputs = torch.full((3, BITS), 300.0)
    known = ~torch.eye(3, dtype=torch.bool)
    assert torch.isfinite(LOSSES.find(name).build(BITS).supervised(outputs, known, known))


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_mean_over_nothing_is_zero(name):
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    outputs = torch.ones(3, BITS)
    assert LOSSES.find(name).build(BITS).supervised(outputs, nothing, nothing).item() == 0
    assert LOSSES.find(name).build(BITS).pseudo(cosines(outputs), nothing, nothing).item() == 0


def test_unknown_loss():
    with pytest.raises(UserError, match="choose from dsh, dpsh, ksh"):
        LOSSES.find("triplet")
