"""Smooth Neighbors on Teacher Graphs (Luo et al., arXiv 1711.00258) as a regulariser of codes."""

from dataclasses import dataclass

from torch import Tensor

from ..data.problem import Problem
from ..losses.consistency import cosines, similarity_threshold
from ..losses.squared_contrast import squared_contrast
from ..settings.used import Used
from .mean_teacher import MeanTeacher
from .objective import Step, unknown_pairs
from .semi_supervised import shared


@dataclass(kw_only=True)
class SNTG(MeanTeacher):
    """Mean Teacher, and neighbours on the teacher's graph.

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

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """The item's own distance, and the graph's."""
        own, parts = super().regulariser(step)
        unknown = unknown_pairs(step.known, len(step.outputs))
        teacher_cosine = cosines(step.taught)
        threshold = similarity_threshold(teacher_cosine, unknown, self.similar_share)
        neighbours = 2 * teacher_cosine - 2 >= threshold
        graph = squared_contrast(2 - 2 * cosines(step.outputs), neighbours, self.margin, unknown)
        return own + self.smooth * graph, {**parts, "graph": graph, "threshold": threshold}


def build(problem: Problem, used: Used) -> SNTG:
    """SNTG in the place of R_u; gamma weighs its graph."""
    return SNTG(**shared(used), smooth=used.gamma, similar_share=used.similar_share)
