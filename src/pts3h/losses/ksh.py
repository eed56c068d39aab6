"""Supervised Hashing with Kernels (Liu et al., CVPR 2012), as a loss of a network."""

from torch import Tensor

from .pairwise import PairwiseLoss, count, squared_error
from .table import Reading


class KSH(PairwiseLoss):
    """Inner products should be +b or -b.

    Args:
        bits: code length b.
        divide: divide L_s by b², so that one range of omega fits every code length.
        reading: "code": (2W - 1 - cos)². "literal": (b (2W - 1) - sim)² with the paper's similarity,
            divided as L_s is.
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
        if not self.literal:
            return squared_error(cosine, target, unknown) / count(unknown)
        return squared_error(2 * cosine - 2, self.bits * target, unknown) / (self.scale * count(unknown))
