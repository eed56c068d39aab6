"""Pairwise losses: what a pair of outputs costs, given whether the pair is alike.

Each loss has two faces. ``supervised`` is L_s on raw outputs of pairs whose similarity is known. ``pseudo``
is the same idea on unit-normalised outputs, for pairs whose similarity the teacher guessed (R_uq). Masks are
symmetric with a false diagonal, so a mean over them is the mean over pairs i < j.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from ..codes import check_bits
from ..errors import UserError
from .names import LOSSES, Reading


class PairwiseLoss(Protocol):
    """Tensors in, a scalar out."""

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs.

        Args:
            outputs: (n, bits) raw outputs.
            similar: (n, n) bool, which pairs are alike; read only where ``known``.
            known: (n, n) bool, which pairs count.
        """
        ...

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss of pairs under guessed similarities.

        Args:
            cosine: (n, n) cosines of the outputs.
            similar: (n, n) bool, the guess.
            unknown: (n, n) bool, which pairs count.
        """
        ...


class DSH:
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
        distance = squared_distances(outputs)
        return masked_mean(contrast(distance, similar, self.margin), known) / self.scale

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        return masked_mean(contrast(2 - 2 * cosine, similar, self.pseudo_margin), unknown)


class DPSH:
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
        return masked_mean(likelihood(outputs @ outputs.T / 2, similar), known)

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        u = self.half_bits * cosine if self.in_code_space else 2 * cosine - 2
        return masked_mean(likelihood(u, similar), unknown)


class KSH:
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
        return masked_mean((target - outputs @ outputs.T).square(), known) / self.scale

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Mean loss under guessed similarities."""
        target = 2.0 * similar - 1
        error = target - (2 * cosine - 2) / self.bits if self.literal else target - cosine
        return masked_mean(error.square(), unknown)


def pairwise_loss(name: str, bits: int, *, divide: bool = True, reading: Reading = "auto") -> PairwiseLoss:
    """The pairwise loss called ``name`` for codes of ``bits`` bits."""
    check_bits(bits)
    match name:
        case "dsh":
            return DSH(bits, divide=divide, reading=reading)
        case "dpsh":
            return DPSH(bits, reading=reading)
        case "ksh":
            return KSH(bits, divide=divide, reading=reading)
    raise UserError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}")


def contrast(distance: Tensor, similar: Tensor, margin: float) -> Tensor:
    """The distance where similar, what is missing to the margin elsewhere."""
    return torch.where(similar, distance, F.relu(margin - distance))


def likelihood(u: Tensor, similar: Tensor) -> Tensor:
    """Negative log-likelihood of the similarities, log(1 + e^u) - s u."""
    return F.softplus(torch.where(similar, -u, u))


def squared_distances(outputs: Tensor) -> Tensor:
    """(n, bits) → (n, n) squared Euclidean distances."""
    square = outputs.square().sum(1)
    return (square[:, None] + square[None, :] - 2 * (outputs @ outputs.T)).clamp(min=0)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``values`` where ``mask``; 0 where the mask is empty."""
    weights = mask.to(values.dtype)
    return (values * weights).sum() / weights.sum().clamp(min=1)
