"""Virtual adversarial training (Miyato et al., arXiv 1704.03976) as a regulariser of codes."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from ..data.problem import Problem
from ..settings.used import Used
from .mean_teacher import own_distance
from .objective import Step
from .semi_supervised import SemiSupervised, shared


@dataclass(kw_only=True)
class VAT(SemiSupervised):
    """The perturbation is the one that moves the output most.

    Its direction comes from one power step on the curvature of the distance, as in the paper. The extra
    passes are in evaluation mode: dropout would drown the small differences that the direction is read from.

    Attributes:
        epsilon: length of the perturbation, as a share of the typical length of a centred input.
        probe: length of the probe of the power step, likewise.
    """

    epsilon: float = 0.3
    probe: float = 0.01

    @property
    def needs_inputs(self) -> bool:
        """The network is run three more times."""
        return True

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """Mean over the batch."""
        training = step.student.training
        step.student.eval()
        try:
            loss = own_distance(step.student(self.adversarial_view(step)), step.student(step.inputs)).mean()
        finally:
            step.student.train(training)
        return loss, {"consistent": loss}

    def adversarial_view(self, step: Step) -> Tensor:
        """The inputs, moved to where the output changes most."""
        inputs = step.inputs.detach()
        length = (inputs - inputs.mean(0)).flatten(1).norm(dim=1).mean()
        probe = (self.probe * length * unit_rows(torch.randn_like(inputs))).requires_grad_()
        with torch.no_grad():
            target = step.student(inputs)
        with torch.enable_grad():
            change = own_distance(step.student(inputs + probe), target).sum()
            (direction,) = torch.autograd.grad(change, probe)
        view: Tensor = inputs + self.epsilon * length * unit_rows(direction)
        return view


def unit_rows(rows: Tensor) -> Tensor:
    """Each item scaled to length 1, whatever its shape."""
    return F.normalize(rows.flatten(1), dim=1).view_as(rows)


def build(problem: Problem, used: Used) -> VAT:
    """Virtual adversarial training in the place of R_u."""
    return VAT(**shared(used))
