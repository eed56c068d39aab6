"""How alike items are where classes are known: the chance that both are of one class.

Labels say more than their pairs do one by one: softmax regression on coordinates along the graph learns what
each class looks like, and two items are alike as far as their chances agree (the pair likelihood of Hsu et
al., ICLR 2019, with classes that are known).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ..data.images import Positions

RIDGE = 0.1  # on the squared weights, beside the sum of losses
SHARPNESS = 2.0  # few labels make regression shy: what it finds likely, it should say plainly
ROUNDS = 200


@dataclass(frozen=True)
class ClassGuide:
    """Similarities of items, from -1 to 1.

    Attributes:
        places: (n,) row of each item in ``chances``, -1 for an item that takes no part.
        chances: (m, classes) how likely each class is.
    """

    places: NDArray[np.int64]
    chances: Tensor

    def __call__(self, positions: Positions) -> Tensor:
        """(m, m) how alike the items at ``positions`` are."""
        chances = self.chances[self.places[positions]]
        return 2 * chances @ chances.T - 1


def class_chances(rows: Tensor, labelled: Tensor, classes: NDArray[np.int64]) -> Tensor:
    """(m, classes) how likely each class is for each row.

    Args:
        rows: (m, e) coordinates of all items.
        labelled: (l,) which of them have a label.
        classes: (l,) their classes; numbers that no item has take no part.
    """
    names, target = np.unique(classes, return_inverse=True)
    weights, bias = softmax_regression(rows[labelled].double(), torch.from_numpy(target), len(names))
    return F.softmax(SHARPNESS * (rows @ weights.float() + bias.float()), dim=1)


def softmax_regression(rows: Tensor, target: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Weights (e, classes) and bias (classes,) of least loss, the weights kept small."""
    weights = torch.zeros(rows.shape[1], classes, dtype=rows.dtype, requires_grad=True)
    bias = torch.zeros(classes, dtype=rows.dtype, requires_grad=True)
    optimizer: torch.optim.Optimizer = torch.optim.LBFGS(
        [weights, bias], max_iter=ROUNDS, line_search_fn="strong_wolfe"
    )

    def loss() -> float:
        optimizer.zero_grad()
        fit = F.cross_entropy(rows @ weights + bias, target, reduction="sum")
        total = fit + RIDGE / 2 * weights.square().sum()
        torch.autograd.backward(total)
        return total.item()

    optimizer.step(loss)
    return weights.detach(), bias.detach()
