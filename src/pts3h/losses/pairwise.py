"""Pairwise losses: what a pair of outputs costs, given whether the pair is alike.

Each loss has two faces. ``supervised`` is L_s on raw outputs of pairs whose similarity is known. ``pseudo``
is the same idea on unit-normalised outputs, for pairs whose similarity the teacher guessed (R_uq). Masks are
symmetric with a false diagonal, so a mean over them is the mean over pairs i < j.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F

from .names import Reading


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


class DSH(PairwiseLoss):
    """Deep Supervised Hashing (Liu et al., CVPR 2016): pull similar pairs together, push others 2b apart.

    Args:
        bits: code length b.
        divide: divide L_s by b, so that one range of omega fits every code length.
        reading: the margin of ``pseudo``. "code": 2, which is what 2b of code space is between unit vectors.
            "literal": 2b as printed, which unit vectors never reach.
    """

    def __init__(self, bits: int, *, divide: bool = True, reading: Reading = "auto") -> None:
        self.margin = 2.0 * bits
        self.scale = bits if divide else 1
        self.pseudo_margin = self.margin if reading == "literal" else 2.0

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs."""
        total = contrast(squared_distances(outputs), similar, self.margin, known)
        return total / (self.scale * count(known))

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        return contrast(2 - 2 * cosine, similar, self.pseudo_margin, unknown) / count(unknown)


class DPSH(PairwiseLoss):
    """Deep Pairwise-Supervised Hashing (Li et al., IJCAI 2016): likelihood of them under u = <F, F> / 2.

    Args:
        bits: code length b.
        reading: u of ``pseudo``. "literal": the paper's -|F - F|², in [-4, 0]. "code": (b / 2) cos.
    """

    def __init__(self, bits: int, *, reading: Reading = "auto") -> None:
        self.half_bits = bits / 2
        self.in_code_space = reading == "code"

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs."""
        return likelihood(outputs @ outputs.T / 2, similar, known) / count(known)

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        u = self.half_bits * cosine if self.in_code_space else 2 * cosine - 2
        return likelihood(u, similar, unknown) / count(unknown)


class KSH(PairwiseLoss):
    """Supervised Hashing with Kernels (Liu et al., CVPR 2012): inner products should be +b or -b.

    Args:
        bits: code length b.
        divide: divide L_s by b², so that one range of omega fits every code length.
        reading: "code": (2W - 1 - cos)². "literal": (b (2W - 1) - sim)² with the paper's similarity, over b².
    """

    def __init__(self, bits: int, *, divide: bool = True, reading: Reading = "auto") -> None:
        self.bits = bits
        self.scale = bits**2 if divide else 1
        self.literal = reading == "literal"

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs."""
        target = self.bits * (2.0 * similar - 1)
        return squared_error(outputs @ outputs.T, target, known) / (self.scale * count(known))

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        target = 2.0 * similar - 1
        value = (2 * cosine - 2) / self.bits if self.literal else cosine
        return squared_error(value, target, unknown) / count(unknown)


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
