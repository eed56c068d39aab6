"""Groups learned from a few items by ridge regression: a guess at the others that takes a moment."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

RIDGE = 0.1


def ridge_scores(rows: Floats, member: NDArray[np.bool_], asked: Floats) -> Floats:
    """(m, groups) how much each of ``asked`` (m, d) seems to belong to each group.

    Args:
        rows: (k, d) of items whose groups are known.
        member: (k, groups) which group each is in.
        asked: (m, d).
    """
    rows, asked = rows.astype(np.float64), asked.astype(np.float64)
    target = member - member.mean(axis=0)
    if len(rows) < rows.shape[1]:  # the same either way; the smaller system is the quicker
        weights = rows.T @ np.linalg.solve(rows @ rows.T + RIDGE * np.eye(len(rows)), target)
    else:
        weights = np.linalg.solve(rows.T @ rows + RIDGE * np.eye(rows.shape[1]), rows.T @ target)
    return np.asarray(asked @ weights)


def undecided(rows: Floats, groups: NDArray[np.int64], asked: Floats) -> Floats:
    """(m,) from 0 to 1, how close the two likeliest groups of each of ``asked`` are; 1 with one group."""
    names = np.unique(groups)
    if len(names) < 2:
        return np.ones(len(asked))
    scores = np.sort(ridge_scores(rows, groups[:, None] == names, asked), axis=1)
    return np.asarray(1 - (scores[:, -1] - scores[:, -2]).clip(max=1))
