"""Pairwise Teacher-Student Semi-Supervised Hashing (Zhang, Li and Zhang, arXiv 1902.00643).

L = L_s + omega(t) (R_up + gamma R_uq) + eta Q, and where labels are known, classes beside the pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..data.problem import Problem, Similarities
from ..losses.consistency import consistent_similarity, cosines, similarity_threshold
from ..settings.used import Used
from .classes import Classes
from .objective import Step, Terms, unknown_pairs
from .semi_supervised import SemiSupervised, shared


@dataclass(kw_only=True)
class PTS3H(SemiSupervised):
    """The loss of the paper. omega = 0 is the supervised baseline, gamma = 0 is P, no consistency is Q.

    Attributes:
        gamma: weight of the quantized similarity loss within the unlabelled terms.
        similar_share: rho, the share of unknown pairs taken for similar.
        consistency: whether the consistent similarity loss takes part.
        neighbours: how much of the similarities the guide supplies; the teacher supplies the rest.
        fade: steps over which the guide gives way to the teacher; 0 for never.
        guide: similarities along the graph of neighbours.
        class_weight: weight of the classes.
        classes: what tells them; None as in the paper.
    """

    gamma: float
    similar_share: float
    consistency: bool = True
    neighbours: float = 0.0
    fade: int = 0
    guide: Similarities | None = None
    class_weight: float = 0.0
    classes: Classes | None = None

    @property
    def needs_teacher(self) -> bool:
        """Whether there is something left for the teacher to say."""
        return self.needs_unlabelled and (self.neighbours < 1 or self.fade > 0 or self.classes is not None)

    @property
    def needs_unlabelled(self) -> bool:
        """Supervised training needs no unlabelled items."""
        return self.omega > 0 and (self.consistency or self.gamma > 0)

    def parameters(self) -> Sequence[nn.Parameter]:
        """Those that tell classes."""
        return () if self.classes is None else self.classes.parameters()

    def __call__(self, step: Step) -> Terms:
        """Compute the loss."""
        terms = super().__call__(step)
        if self.classes is None:
            return terms
        loss = known = self.classes.known(step)
        named: dict[str, Tensor | float] = {"classes": known}
        if step.weight:
            guessed = named["guessed"] = self.classes.guessed(step)
            loss = known + step.weight * guessed
        total = terms.total + self.class_weight * loss
        return Terms(total, {**terms.named, **named, "loss": total})

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """R_up + gamma R_uq, and its parts by name."""
        cosine, teacher_cosine = cosines(step.outputs), self.taught(step)
        parts: dict[str, Tensor | float] = {}
        loss = step.outputs.new_zeros(())
        if self.consistency:
            loss = parts["consistent"] = consistent_similarity(cosine, teacher_cosine)
        if self.gamma:
            unknown = unknown_pairs(step.known, len(step.outputs))
            threshold = similarity_threshold(teacher_cosine, unknown, self.similar_share)
            pseudo_similar = 2 * teacher_cosine - 2 >= threshold
            pairwise = self.pairwise.at(step.number)
            parts["quantized"] = pairwise.pseudo(cosine, pseudo_similar, unknown)
            parts["threshold"] = threshold
            loss = loss + self.gamma * parts["quantized"]
        return loss, parts

    def taught(self, step: Step) -> Tensor:
        """(n, n) the similarities asked of the student: the teacher's, the neighbours', or a mean of both."""
        weight = self.neighbours * (max(1 - step.number / self.fade, 0) if self.fade else 1)
        if self.guide is None or not weight:
            return cosines(step.taught)
        guided = self.guide(step.positions).to(step.outputs.device)
        return torch.lerp(cosines(step.taught), guided, weight) if self.needs_teacher else guided


def build(problem: Problem, used: Used) -> PTS3H:
    """PTS3H, its variants and, with omega 0, its base."""
    near = problem.neighbourhood if used.guided else None
    return PTS3H(
        **shared(used),
        gamma=used.gamma,
        similar_share=used.similar_share,
        consistency=used.consistency,
        neighbours=used.neighbours,
        fade=round(used.fade * used.steps),
        guide=None if near is None else near.guide(problem.known),
        class_weight=used.classes,
        classes=Classes(problem.labels("classes"), used.bits) if used.classes else None,
    )
