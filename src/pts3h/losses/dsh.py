"""Deep Supervised Hashing (Liu et al., CVPR 2016)."""

from torch import Tensor

from .pairwise import PairwiseLoss, contrast, count, squared_distances
from .table import Reading


class DSH(PairwiseLoss):
    """Pull similar pairs together, push others 2b apart.

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
