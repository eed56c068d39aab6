"""HashNet (Cao et al., ICCV 2017): weighted likelihood of tanh(beta F), with beta growing step by step."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from .pairwise import PairwiseLoss
from .table import Reading

GROWTH = 0.005  # beta = sqrt(1 + GROWTH * step)
SLOPE = 10.0  # a = SLOPE / bits, so that a <h, h> lies in [-10, 10] for any code length


class HashNet(PairwiseLoss):
    """Similar and dissimilar pairs weigh the same in sum, however rare the similar ones are.

    Args:
        bits: code length b.
        beta: sharpness of tanh(beta F); see :meth:`at`.
        reading: what stands for a <h, h> in ``pseudo``. "code": 10 cos. "literal": the paper's similarity
            2 cos - 2.
    """

    def __init__(self, bits: int, *, beta: float = 1.0, reading: Reading = "auto") -> None:
        self.bits, self.beta, self.reading = bits, beta, reading

    def at(self, step: int) -> "HashNet":
        """The loss with the beta of this step."""
        return HashNet(self.bits, beta=math.sqrt(1 + GROWTH * step), reading=self.reading)

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Weighted mean loss of the known pairs."""
        soft = torch.tanh(self.beta * outputs)
        return balanced_likelihood(SLOPE / self.bits * (soft @ soft.T), similar, known)

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Weighted mean loss under guessed similarities."""
        u = SLOPE * cosine if self.reading == "code" else 2 * cosine - 2
        return balanced_likelihood(u, similar, unknown)


def balanced_likelihood(u: Tensor, similar: Tensor, mask: Tensor) -> Tensor:
    """Mean over ``mask`` of w [log(1 + e^u) - s u], w = pairs / similar pairs or pairs / dissimilar pairs.

    Where a batch has one kind only, that kind weighs 1.
    """
    alike, other = (mask & similar).to(u.dtype), (mask & ~similar).to(u.dtype)
    weight = alike / alike.sum().clamp(min=1) + other / other.sum().clamp(min=1)
    return F.binary_cross_entropy_with_logits(u, similar.to(u.dtype), weight, reduction="sum")
