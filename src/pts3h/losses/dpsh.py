"""Deep Pairwise-Supervised Hashing (Li et al., IJCAI 2016)."""

from torch import Tensor

from .pairwise import PairwiseLoss, count, likelihood
from .table import Reading


class DPSH(PairwiseLoss):
    """The likelihood of the pairs under u = <F, F> / 2.

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
