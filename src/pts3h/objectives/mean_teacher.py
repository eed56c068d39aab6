"""Mean Teacher (Tarvainen and Valpola, arXiv 1703.01780) as a regulariser of codes."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional as F

from ..data.problem import Problem
from ..settings.used import Used
from .objective import Step
from .semi_supervised import SemiSupervised, shared


@dataclass(kw_only=True)
class MeanTeacher(SemiSupervised):
    """The target is the teacher's output on the other view."""

    @property
    def needs_teacher(self) -> bool:
        """The network of averaged weights."""
        return self.omega > 0

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """Mean over the batch."""
        loss = own_distance(step.outputs, step.taught).mean()
        return loss, {"consistent": loss}


def own_distance(outputs: Tensor, target: Tensor) -> Tensor:
    """(n,) squared distances of each item's normalised output to its target's; none flows into the target."""
    difference = F.normalize(outputs, dim=1) - F.normalize(target.detach(), dim=1)
    return difference.square().sum(1)


def build(problem: Problem, used: Used) -> MeanTeacher:
    """Mean Teacher in the place of R_u."""
    return MeanTeacher(**shared(used))
