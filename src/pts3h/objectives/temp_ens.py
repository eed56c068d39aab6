"""Temporal ensembling (Laine and Aila, arXiv 1610.02242) as a regulariser of codes."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from ..data.problem import Problem
from ..settings.used import Used
from .mean_teacher import own_distance
from .objective import Step
from .semi_supervised import SemiSupervised, shared


@dataclass(kw_only=True)
class TempEns(SemiSupervised):
    """The target is the average of the item's outputs in earlier epochs.

    Attributes:
        count: number of items.
        bits: code length.
        decay: a of Z <- a Z + (1 - a) z; the target is Z / (1 - a^t) after t outputs of the item.
    """

    count: int
    bits: int
    decay: float = 0.6
    _average: Tensor = field(init=False, repr=False)
    _seen: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._average = torch.zeros(self.count, self.bits)
        self._seen = torch.zeros(self.count, dtype=torch.long)

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """Mean over the batch; an item that is seen for the first time has no target and adds nothing."""
        at = torch.from_numpy(step.positions)
        seen, average = self._seen[at].to(step.outputs.device), self._average[at].to(step.outputs)
        target = average / (1 - self.decay ** seen.clamp(min=1)).to(average)[:, None]
        loss = (own_distance(step.outputs, target) * (seen > 0)).mean()
        fresh = F.normalize(step.outputs.detach(), dim=1)
        self._average[at] = torch.lerp(fresh, average, self.decay).to(self._average)
        self._seen[at] += 1
        return loss, {"consistent": loss}


def build(problem: Problem, used: Used) -> TempEns:
    """Temporal ensembling in the place of R_u."""
    return TempEns(**shared(used), count=int(problem.members.max()) + 1, bits=used.bits)
