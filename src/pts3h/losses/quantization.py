"""How far outputs are from being codes."""

import torch
from torch import Tensor


def quantization(outputs: Tensor) -> Tensor:
    """Q: the L1 norm of sgn(F) - F, summed over bits, mean over items; sgn(0) = +1.

    Args:
        outputs: (n, bits).
    """
    sign = torch.where(outputs >= 0, 1.0, -1.0).to(outputs.dtype)
    return (sign - outputs).abs().sum(1).mean()
