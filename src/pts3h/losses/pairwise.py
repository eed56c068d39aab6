"""Pairwise losses: what a pair of outputs costs, given whether the pair is alike.

Each loss has two faces. ``supervised`` is L_s on raw outputs of pairs whose similarity is known. ``pseudo``
is the same idea on unit-normalised outputs, for pairs whose similarity the teacher guessed (R_uq). Masks are
symmetric with a false diagonal, so a mean over them is the mean over pairs i < j.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F


class PairwiseLoss(ABC):
    """Tensors in, a scalar out."""

    def at(self, step: int) -> "PairwiseLoss":
        """The loss as it is at this step, counted from 1; most stay the same."""
        return self

    @abstractmethod
    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs.

        Args:
            outputs: (n, bits) raw outputs.
            similar: (n, n) bool, which pairs are alike; read only where ``known``.
            known: (n, n) bool, which pairs count.
        """

    @abstractmethod
    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss of pairs under guessed similarities.

        Args:
            cosine: (n, n) cosines of the outputs.
            similar: (n, n) bool, the guess.
            unknown: (n, n) bool, which pairs count.
        """


def contrast(distance: Tensor, similar: Tensor, margin: float, mask: Tensor) -> Tensor:
    """Sum over ``mask`` of the distance where similar, and of what is missing to the margin elsewhere.

    Both are relu(a + s * distance), with (a, s) = (0, 1) or (margin, -1): two operations forward and two
    back, where a case distinction would take a dozen. Pairs outside the mask get (0, 0).
    """
    push = (mask & ~similar).to(distance.dtype)
    slope = mask.to(distance.dtype).sub_(push, alpha=2)
    return F.relu(torch.addcmul(push.mul_(margin), slope, distance)).sum()


def likelihood(u: Tensor, similar: Tensor, mask: Tensor) -> Tensor:
    """Sum over ``mask`` of the negative log-likelihood of the similarities, log(1 + e^u) - s u."""
    target, weight = similar.to(u.dtype), mask.to(u.dtype)
    return F.binary_cross_entropy_with_logits(u, target, weight, reduction="sum")


def squared_error(value: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Sum over ``mask`` of the squared difference."""
    return F.mse_loss(value * mask, target * mask, reduction="sum")


def squared_distances(outputs: Tensor) -> Tensor:
    """(n, bits) → (n, n) squared Euclidean distances, up to rounding."""
    square = outputs.square().sum(1)
    return torch.addmm(square[:, None] + square[None, :], outputs, outputs.T, alpha=-2)


def count(mask: Tensor) -> int:
    """Pairs in a mask, 1 where there are none, so that a mean over nothing is 0."""
    return max(int(mask.count_nonzero()), 1)
