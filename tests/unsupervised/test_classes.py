"""Chances of classes: against scikit-learn's regression, and what follows for pairs."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from pts3h.unsupervised.classes import RIDGE, SHARPNESS, ClassGuide, class_chances, softmax_regression

RNG = np.random.default_rng(0)
CLASSES = RNG.integers(4, size=300)
ROWS = RNG.normal(size=(4, 12))[CLASSES] + 1.5 * RNG.normal(size=(300, 12))
LABELLED = np.arange(60)


def test_regression_is_that_of_scikit_learn():
    oracle = LogisticRegression(C=1 / RIDGE, tol=1e-10, max_iter=10_000)
    oracle.fit(ROWS[LABELLED], CLASSES[LABELLED])
    weights, bias = softmax_regression(
        torch.from_numpy(ROWS[LABELLED]), torch.from_numpy(CLASSES[LABELLED]), 4
    )
    found = torch.softmax(torch.from_numpy(ROWS) @ weights + bias, dim=1).numpy()
    np.testing.assert_allclose(found, oracle.predict_proba(ROWS), atol=1e-3)


def test_chances_are_sharper_than_those_of_the_regression():
    oracle = LogisticRegression(C=1 / RIDGE, tol=1e-10, max_iter=10_000)
    oracle.fit(ROWS[LABELLED], CLASSES[LABELLED])
    rows = torch.from_numpy(ROWS).float()
    found = class_chances(rows, torch.from_numpy(LABELLED), CLASSES[LABELLED]).numpy()
    expected = oracle.predict_proba(ROWS) ** SHARPNESS
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=3e-3)


def test_numbers_of_classes_may_have_gaps():
    rows = torch.from_numpy(ROWS).float()
    plain, gaps = (
        class_chances(rows, torch.from_numpy(LABELLED), numbers[LABELLED])
        for numbers in (CLASSES, 7 * CLASSES + 3)
    )
    assert plain.shape == (300, 4)
    torch.testing.assert_close(plain, gaps)


def test_two_items_are_alike_as_far_as_both_are_of_one_class():
    chances = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    guide = ClassGuide(np.array([2, -1, 0, 1]), chances)
    # the first item is of either class, the others of one class each
    np.testing.assert_allclose(guide(np.array([0, 2, 3])), [[0, 0, 0], [0, 1, -1], [0, -1, 1]])


@pytest.mark.parametrize("scale", [1e-4, 1e3])
def test_rows_of_any_size(scale):
    rows = torch.from_numpy(scale * ROWS).float()
    chances = class_chances(rows, torch.from_numpy(LABELLED), CLASSES[LABELLED])
    assert torch.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(dim=1), 1, atol=1e-5)
