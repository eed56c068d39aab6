"""Pairwise Teacher-Student Semi-Supervised Hashing (Zhang, Li and Zhang, arXiv 1902.00643).

L = L_s + omega(t) (R_up + gamma R_uq) + eta Q
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..losses.consistency import consistent_similarity, cosines, similarity_threshold
from ..losses.pairwise import PairwiseLoss
from ..losses.quantization import quantization
from .objective import Terms


@dataclass(frozen=True)
class PTS3H:
    """The loss of the paper. omega = 0 is the supervised baseline, gamma = 0 is P, no consistency is Q.

    Attributes:
        pairwise: the base loss.
        omega: weight of the unlabelled terms.
        gamma: weight of the quantized similarity loss within them.
        eta: weight of the quantization loss.
        similar_share: rho, the share of unknown pairs taken for similar.
        consistency: whether the consistent similarity loss takes part.
    """

    pairwise: PairwiseLoss
    omega: float
    gamma: float
    eta: float
    similar_share: float
    consistency: bool = True

    @property
    def needs_teacher(self) -> bool:
        """Supervised training needs neither teacher nor unlabelled items."""
        return self.omega > 0 and (self.consistency or self.gamma > 0)

    def __call__(
        self, outputs: Tensor, teacher_outputs: Tensor | None, known: Tensor, similar: Tensor, weight: float
    ) -> Terms:
        """See :class:`~pts3h.methods.objective.Objective`."""
        supervised = self.pairwise.supervised(outputs[: len(known)], similar, known)
        rounding = quantization(outputs)
        total = supervised + self.eta * rounding
        named: dict[str, Tensor | float] = {"supervised": supervised, "quantization": rounding}
        if teacher_outputs is not None and self.needs_teacher:
            omega = self.omega * weight
            unlabelled, parts = self.unlabelled(outputs, teacher_outputs, known)
            total = total + omega * unlabelled
            named |= {**parts, "omega": omega}
        return Terms(total, {"loss": total, **named})

    def unlabelled(
        self, outputs: Tensor, teacher_outputs: Tensor, known: Tensor
    ) -> tuple[Tensor, dict[str, Tensor | float]]:
        """R_up + gamma R_uq, and its parts by name."""
        cosine, teacher_cosine = cosines(outputs), cosines(teacher_outputs.detach())
        parts: dict[str, Tensor | float] = {}
        loss = outputs.new_zeros(())
        if self.consistency:
            loss = parts["consistent"] = consistent_similarity(cosine, teacher_cosine)
        if self.gamma:
            unknown = unknown_pairs(known, len(outputs))
            threshold = similarity_threshold(teacher_cosine, unknown, self.similar_share)
            pseudo_similar = 2 * teacher_cosine - 2 >= threshold
            parts["quantized"] = self.pairwise.pseudo(cosine, pseudo_similar, unknown)
            parts["threshold"] = threshold
            loss = loss + self.gamma * parts["quantized"]
        return loss, parts


def unknown_pairs(known: Tensor, count: int) -> Tensor:
    """(m, m) known pairs of the first m items → (count, count) pairs of different items not known."""
    unknown = torch.ones(count, count, dtype=torch.bool, device=known.device).fill_diagonal_(False)
    labelled = len(known)
    unknown[:labelled, :labelled] &= ~known
    return unknown
