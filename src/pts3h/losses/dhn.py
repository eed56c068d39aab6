"""Deep Hashing Network (Zhu et al., AAAI 2016): the likelihood of the pairs, and its own smooth rounding."""

from torch import Tensor
from torch.nn import functional as F

from .dpsh import DPSH
from .table import Reading


class DHN(DPSH):
    """DPSH's likelihood + rounding * log cosh(|F| - 1), which is smooth where the L1 norm of Q has a kink.

    Args:
        bits: code length b.
        rounding: lambda, weight of the rounding term (mean over items and bits).
        reading: as for DPSH; ``pseudo`` sees normalised outputs, which have no size to round.
    """

    def __init__(self, bits: int, *, rounding: float = 1.0, reading: Reading = "auto") -> None:
        super().__init__(bits, reading=reading)
        self.rounding = rounding

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Mean loss of the known pairs, and the rounding of the items that are in one."""
        in_pair = known.any(dim=1)
        rounding = log_cosh(outputs.abs() - 1).mean(dim=1) @ in_pair.to(outputs.dtype)
        likelihood = super().supervised(outputs, similar, known)
        return likelihood + self.rounding * rounding / in_pair.sum().clamp(min=1)


def log_cosh(x: Tensor) -> Tensor:
    """log cosh x without overflow: |x| + log(1 + e^(-2|x|)) - log 2."""
    size = x.abs()
    return size + F.softplus(-2 * size) - 0.6931471805599453
