"""Ridge regression, against scikit-learn."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from pts3h.teaching.ridge import RIDGE, ridge_scores, undecided


@pytest.fixture(params=[5, 50])
def known(request):
    rng = np.random.default_rng(0)
    rows, asked = rng.standard_normal((30, request.param)), rng.standard_normal((7, request.param))
    return rows, rng.integers(3, size=30), asked


def oracle(rows, groups, asked):
    member = groups[:, None] == np.arange(3)
    return KernelRidge(alpha=RIDGE).fit(rows, member - member.mean(axis=0)).predict(asked)


def test_more_rows_or_fewer_than_columns(known):
    rows, groups, asked = known
    found = ridge_scores(rows, groups[:, None] == np.arange(3), asked)
    np.testing.assert_allclose(found, oracle(*known), atol=1e-9)


def test_what_is_undecided(known):
    rows, groups, asked = known
    scores = [sorted(row) for row in oracle(*known)]
    expected = [1 - min(row[-1] - row[-2], 1) for row in scores]
    np.testing.assert_allclose(undecided(rows, groups, asked), expected, atol=1e-9)
    np.testing.assert_array_equal(undecided(rows, np.zeros(30, int), asked), np.ones(7))
