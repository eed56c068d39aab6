import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pts3h.losses.consistency import consistent_similarity, cosines, similarity_threshold

from . import oracles


@pytest.fixture
def two():
    rng = np.random.default_rng(1)
    return rng.normal(size=(6, 5)), rng.normal(size=(6, 5))


def test_consistency_value_and_gradient(two):
    outputs, teacher = two
    variable = torch.from_numpy(outputs).requires_grad_()
    loss = consistent_similarity(cosines(variable), cosines(torch.from_numpy(teacher)))
    loss.backward()
    assert loss.item() == pytest.approx(oracles.consistent(outputs, teacher), abs=1e-6)
    expected = oracles.gradient(lambda at: oracles.consistent(at, teacher), outputs)
    np.testing.assert_allclose(variable.grad.numpy(), expected, atol=1e-6)


def test_no_gradient_reaches_the_teacher(two):
    outputs, teacher = (torch.from_numpy(array).requires_grad_() for array in two)
    consistent_similarity(cosines(outputs), cosines(teacher)).backward()
    assert outputs.grad is not None
    assert teacher.grad is None


def test_equal_outputs_cost_nothing_and_different_ones_do(two):
    outputs, teacher = map(torch.from_numpy, two)
    assert consistent_similarity(cosines(outputs), cosines(outputs)).item() == pytest.approx(0, abs=1e-12)
    assert consistent_similarity(cosines(outputs), cosines(teacher)).item() > 0.1


def test_only_similarities_count_not_positions(two):
    """A rotation of all outputs keeps every similarity."""
    outputs = torch.from_numpy(two[0])
    rotation = torch.linalg.qr(torch.from_numpy(np.random.default_rng(2).normal(size=(5, 5))))[0]
    loss = consistent_similarity(cosines(outputs), cosines(outputs @ rotation))
    assert loss.item() == pytest.approx(0, abs=1e-12)


# 997 is prime, so that a quantile falls on a value only at the ends, where rounding cannot matter
@given(st.integers(2, 12), st.integers(0, 997).map(lambda part: part / 997), st.integers(0, 10_000))
def test_threshold_is_the_quantile(count, share, seed):
    rng = np.random.default_rng(seed)
    outputs = rng.normal(size=(count, 4))
    unknown, _ = oracles.masks(rng, count)
    teacher = cosines(torch.from_numpy(outputs))
    threshold = similarity_threshold(teacher, torch.from_numpy(unknown), share)
    similarities = np.array([2 * teacher[i, j].item() - 2 for i, j in oracles.pairs_of(unknown)])
    if not len(similarities):
        assert threshold == 0
        return
    linear = np.quantile(similarities, 1 - share)
    assert threshold >= linear - 1e-9
    # the pseudo pairs are those of the usual, interpolated quantile
    assert ((similarities >= threshold - 1e-12) == (similarities >= linear - 1e-9)).all()
    assert threshold == pytest.approx(np.quantile(similarities, 1 - share, method="higher"), abs=1e-9)


def test_share_of_pseudo_pairs():
    outputs = torch.from_numpy(np.random.default_rng(3).normal(size=(60, 8)))
    unknown = ~torch.eye(60, dtype=torch.bool)
    teacher = cosines(outputs)
    threshold = similarity_threshold(teacher, unknown, 0.1)
    share = ((2 * teacher - 2 >= threshold) & unknown).sum().item() / unknown.sum().item()
    assert share == pytest.approx(0.1, abs=2e-3)
