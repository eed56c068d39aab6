"""Which item to ask about: the one that stands for most of the items that no answer stands for yet.

An answer about an item says something of those near it. The next question is the one after which most would
be said in all (greedy facility location; for few labels: Yehuda et al., NeurIPS 2022, Bae et al., ECCV 2024).
So dense regions come before sparse ones, no region is asked about twice before its turn, and items whose
group is clear already hardly count.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

REACH = 0.004  # of all items, what an answer stands for: so many answers are needed until all is said once
LEAST_REACH = 3  # items, itself among them
SHARPEST = 64.0
HALVINGS = 8


class Coverage:
    """How far a sample of items is stood for.

    Args:
        rows: (m, d) unit vectors of the sample.

    Attributes:
        covered: (m,) from 0 to 1, how near the nearest item with an answer is.
    """

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        self.nearness = np.maximum(rows @ rows.T, 1e-9)
        self.sharpness = sharpness_of(self.nearness)
        np.power(self.nearness, self.sharpness, out=self.nearness)
        self.covered = np.zeros(len(rows), np.float32)

    def begin(self) -> None:
        """Nothing is stood for."""
        self.covered[:] = 0

    def cover(self, rows: Floats) -> None:
        """There are answers about items (k, d), which need not be of the sample."""
        if len(rows):
            near = np.maximum((self.rows @ rows.T).max(axis=1), 1e-9) ** self.sharpness
            np.maximum(self.covered, near, out=self.covered)

    def best(self, candidates: NDArray[np.int64], weights: NDArray[np.floating]) -> int:
        """Which of these items of the sample would stand for most; the first where several would.

        Args:
            candidates: places in the sample.
            weights: (m,) how much each item of the sample counts.
        """
        then = np.maximum(self.nearness, self.covered) @ weights.astype(np.float32)
        return int(candidates[np.argmax(then[candidates])])


def sharpness_of(cosines: Floats) -> float:
    """How fast what an answer says must fade, as a power of the cosine, so that its reach is as wished.

    So it does not matter whether cosines are those of features, of a network or along a graph.
    """
    if not len(cosines):
        return SHARPEST
    wished = max(REACH, LEAST_REACH / len(cosines))
    logarithms = np.log(cosines[:: max(len(cosines) // 500, 1)])  # some rows tell enough
    low, high = 1.0, SHARPEST
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if np.exp(middle * logarithms).mean() > wished else (low, middle)
    return low
