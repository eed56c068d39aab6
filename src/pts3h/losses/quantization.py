"""How far outputs are from being codes."""

from torch import Tensor
from torch.nn import functional as F


def quantization(outputs: Tensor) -> Tensor:
    """Q: the L1 norm of sgn(F) - F, summed over bits, mean over items; sgn(0) = +1.

    Args:
        outputs: (n, bits).
    """
    sign = (outputs.detach() >= 0).to(outputs.dtype).mul_(2).sub_(1)
    return F.l1_loss(outputs, sign, reduction="sum") / len(outputs)
