"""Signs that training goes wrong: a loss that is no number, outputs or codes without information."""

import math
import warnings

import torch
from torch import Tensor

from ..errors import CollapseWarning, Diverged
from ..model.model import Record
from ..objectives.objective import Step
from ..settings.used import Used

SMALLEST_OUTPUT = 0.01
FEWEST_PAIRS = 16  # that say something
MOST_EQUAL = 0.5  # of the pairs that are known to be not alike, in one code
MOST_EQUAL_OF_ALL = 0.75  # of all pairs, where too few are known; a collection of two kinds has half


def check_finite(record: Record, used: Used) -> None:
    """Raise where the loss is no longer a number."""
    if not math.isfinite(record["loss"]):
        raise Diverged(
            f"the loss became {record['loss']} at step {record['step']}: lower learning_rate "
            f"(now {used.learning_rate:g}) or keep the hidden layer, whose BatchNorm steadies training"
        )


def warn_of_collapse(step: Step, used: Used) -> bool:
    """Warn where outputs are near zero, or items that should differ have one code; say whether it was so."""
    outputs = step.outputs.detach()
    size = float(outputs.abs().mean())
    if size < SMALLEST_OUTPUT:
        what = f"outputs shrank to {size:.1g}"
        advice = f"lower learning_rate (now {used.learning_rate:g}) or raise eta (now {used.eta:g})"
    elif used.bits >= 8 and (together := in_one_code(outputs, step.known & ~step.similar)):
        what = f"{together} have the same code"
        advice = f"lower omega (now {used.omega:g}) or gamma (now {used.gamma:g}), or lower learning_rate"
    else:
        return False
    warnings.warn(f"{what} at step {step.number}: {advice}", CollapseWarning, stacklevel=3)
    return True


def in_one_code(outputs: Tensor, differ: Tensor) -> str:
    """Which pairs have one code too often, in words; nothing where all is well.

    A batch may hold many items of one kind by chance, so what counts is pairs that ``differ`` (m, m): of
    the first m items that are known as not alike.
    """
    _, codes = torch.unique(outputs >= 0, dim=0, return_inverse=True)
    equal = codes[:, None] == codes
    if int(differ.sum()) >= 2 * FEWEST_PAIRS:
        share = float(equal[: len(differ), : len(differ)][differ].float().mean())
        return f"{share:.0%} of the pairs known as not alike" if share > MOST_EQUAL else ""
    every = equal[~torch.eye(len(codes), dtype=torch.bool, device=codes.device)].float()
    if len(every) < 2 * FEWEST_PAIRS:
        return ""
    return f"{every.mean():.0%} of all pairs" if every.mean() > MOST_EQUAL_OF_ALL else ""
