"""Signs that training goes wrong: a loss that is no number, outputs or codes without information."""

import math
import warnings

import torch
from torch import Tensor

from ..errors import CollapseWarning, Diverged
from ..model.model import Record
from ..settings.used import Used

SMALLEST_OUTPUT = 0.01
LARGEST_SHARE = 0.5  # of a batch in one code


def check_finite(record: Record, used: Used) -> None:
    """Raise where the loss is no longer a number."""
    if not math.isfinite(record["loss"]):
        raise Diverged(
            f"the loss became {record['loss']} at step {record['step']}: lower learning_rate "
            f"(now {used.learning_rate:g}) or keep the hidden layer, whose BatchNorm steadies training"
        )


def warn_of_collapse(outputs: Tensor, step: int, used: Used) -> bool:
    """Warn where outputs are near zero, or most codes of the batch are the same; say whether it was so."""
    size = float(outputs.abs().mean())
    _, counts = torch.unique(outputs >= 0, dim=0, return_counts=True)
    share = int(counts.max()) / len(outputs)
    if size < SMALLEST_OUTPUT:
        what = f"outputs shrank to {size:.1g}"
        advice = f"lower learning_rate (now {used.learning_rate:g}) or raise eta (now {used.eta:g})"
    elif share > LARGEST_SHARE and len(outputs) >= 16 and used.bits >= 8:
        what = f"{share:.0%} of the codes are the same"
        advice = f"lower omega (now {used.omega:g}) or gamma (now {used.gamma:g}), or lower learning_rate"
    else:
        return False
    warnings.warn(f"{what} at step {step}: {advice}", CollapseWarning, stacklevel=3)
    return True
