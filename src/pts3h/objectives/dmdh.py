"""Deep hashing via Discrepancy Minimization (Chen et al., CVPR 2018): codes and outputs in turn.

The pairwise loss of the codes b is expanded about the outputs f, L(b) = L(f) + <dL/df, b - f> + ..., which
leaves two easy problems: the best codes given f, and the best outputs given b.
"""

import torch
from torch import Tensor

from ..data.problem import Problem
from ..losses.pairwise import PairwiseLoss
from ..settings.used import Used
from .memory import signs
from .objective import Objective, Step, Terms
from .semi_supervised import base_loss


class DMDH(Objective):
    """L(f) + tie |b - f|², with b the codes that minimise the expansion.

    Args:
        pairwise: the loss of the pairs.
        tie: lambda, weight of the squared distance of codes and outputs (mean over items).
    """

    def __init__(self, pairwise: PairwiseLoss, *, tie: float = 0.02) -> None:
        self.pairwise, self.tie = pairwise, tie

    def __call__(self, step: Step) -> Terms:
        """Compute the loss."""
        outputs = step.outputs[: step.labelled]
        supervised = self.pairwise.supervised(outputs, step.similar, step.known)
        (slope,) = torch.autograd.grad(supervised, outputs, retain_graph=True)
        discrepancy = (self.best_codes(outputs.detach(), slope) - outputs).square().sum(1).mean()
        total = supervised + self.tie * discrepancy
        return Terms(total, {"loss": total, "supervised": supervised, "discrepancy": discrepancy})

    def best_codes(self, outputs: Tensor, slope: Tensor) -> Tensor:
        """The codes b that minimise <slope, b - f> + tie |b - f|² / n: f less a step, rounded."""
        return signs(outputs - len(outputs) / (2 * self.tie) * slope)


def build(problem: Problem, used: Used) -> DMDH:
    """DMDH; eta weighs the distance of outputs and codes."""
    return DMDH(base_loss(used), tie=used.eta)
