"""Regularisers of semi-supervised classification, on normalised outputs, in the place of PTS3H's R_u.

Each says that an item keeps its output under a perturbation; they differ in where the target comes from.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from ..losses.consistency import cosines, similarity_threshold
from .objective import Step
from .pts3h import unknown_pairs
from .semi_supervised import SemiSupervised

Parts = tuple[Tensor, dict[str, Tensor | float]]


def own_distance(outputs: Tensor, target: Tensor) -> Tensor:
    """(n,) squared distances of each item's normalised output to its target's; none flows into the target."""
    difference = F.normalize(outputs, dim=1) - F.normalize(target.detach(), dim=1)
    return difference.square().sum(1)


@dataclass(kw_only=True)
class MeanTeacher(SemiSupervised):
    """The target is the teacher's output on the other view (Tarvainen and Valpola, arXiv 1703.01780)."""

    @property
    def needs_teacher(self) -> bool:
        """The network of averaged weights."""
        return self.omega > 0

    def regulariser(self, step: Step) -> Parts:
        """Mean over the batch."""
        assert step.teacher_outputs is not None
        loss = own_distance(step.outputs, step.teacher_outputs).mean()
        return loss, {"consistent": loss}


@dataclass(kw_only=True)
class TempEns(SemiSupervised):
    """The target is the average of the item's outputs in earlier epochs (Laine and Aila, arXiv 1610.02242).

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

    def regulariser(self, step: Step) -> Parts:
        """Mean over the batch; an item that is seen for the first time has no target and adds nothing."""
        at = torch.from_numpy(step.positions)
        seen, average = self._seen[at].to(step.outputs.device), self._average[at].to(step.outputs)
        target = average / (1 - self.decay ** seen.clamp(min=1)).to(average)[:, None]
        loss = (own_distance(step.outputs, target) * (seen > 0)).mean()
        fresh = F.normalize(step.outputs.detach(), dim=1)
        self._average[at] = torch.lerp(fresh, average, self.decay).to(self._average)
        self._seen[at] += 1
        return loss, {"consistent": loss}


@dataclass(kw_only=True)
class VAT(SemiSupervised):
    """The perturbation is the one that moves the output most (Miyato et al., arXiv 1704.03976).

    Its direction comes from one power step on the curvature of the distance, as in the paper. The extra
    passes are in evaluation mode: dropout would drown the small differences that the direction is read from.

    Attributes:
        epsilon: length of the perturbation, as a share of the typical length of a centred input.
        probe: length of the probe of the power step, likewise.
    """

    epsilon: float = 0.3
    probe: float = 0.01

    def regulariser(self, step: Step) -> Parts:
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
        return inputs + self.epsilon * length * unit_rows(direction)


@dataclass(kw_only=True)
class SNTG(MeanTeacher):
    """Mean Teacher, and neighbours on the teacher's graph (Luo et al., arXiv 1711.00258).

    W d² + (1 - W) max(0, margin - d)² with d the distance of normalised outputs. The paper joins items of
    one predicted class; here, without classes, those that the teacher holds most similar.

    Attributes:
        similar_share: rho, the share of unknown pairs taken for neighbours.
        smooth: weight of the graph term within the regulariser.
        margin: sqrt(2) is the distance of orthogonal outputs.
    """

    similar_share: float
    smooth: float = 0.5
    margin: float = 2**0.5

    def regulariser(self, step: Step) -> Parts:
        """The item's own distance, and the graph's."""
        assert step.teacher_outputs is not None
        own, parts = super().regulariser(step)
        unknown = unknown_pairs(step.known, len(step.outputs))
        teacher_cosine = cosines(step.teacher_outputs.detach())
        threshold = similarity_threshold(teacher_cosine, unknown, self.similar_share)
        neighbours = 2 * teacher_cosine - 2 >= threshold
        graph = squared_contrast(2 - 2 * cosines(step.outputs), neighbours, self.margin, unknown)
        return own + self.smooth * graph, {**parts, "graph": graph, "threshold": threshold}


def squared_contrast(square: Tensor, similar: Tensor, margin: float, mask: Tensor) -> Tensor:
    """Mean over ``mask`` of d² where similar and max(0, margin - d)² elsewhere, from the squared distances d².

    The root has no slope at 0, hence the small number under it.
    """
    push = F.relu(margin - square.clamp(min=1e-6).sqrt()).square()
    each = torch.where(similar, square, push)
    return (each * mask).sum() / mask.sum().clamp(min=1)


def unit_rows(rows: Tensor) -> Tensor:
    """Each item scaled to length 1, whatever its shape."""
    return F.normalize(rows.flatten(1), dim=1).view_as(rows)
