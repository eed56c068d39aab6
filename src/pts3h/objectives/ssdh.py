"""Semi-Supervised Deep Hashing (Zhang and Peng, arXiv 1607.08477): ranking, neighbours and pseudo labels."""

import torch
from torch import Tensor

from ..data.items import Labels
from ..data.problem import Problem
from ..losses.quantization import quantization
from ..losses.squared_contrast import squared_contrast
from ..settings.used import Used
from .classifying import Classifying
from .objective import Step, Terms, unknown_pairs
from .triplets import soft_distances, triplet_hinge


class SSDH(Classifying):
    """Triplets of the labelled items, and contrast along two graphs of the batch.

    The graphs are the nearest neighbours among the inputs, and the items of one predicted class; a linear
    classifier on the soft codes, trained on the labelled items, predicts.

    Args:
        labels: of all items, -1 where unknown.
        bits: code length.
        omega: lambda, weight of each graph.
        eta: weight of the quantization loss.
        neighbours: how many an item has in its batch.
        margin: of the triplets, on distances from 0 to 4.
        graph_margin: of the graphs, on plain distances from 0 to 2; sqrt(2) is unrelated.
    """

    def __init__(
        self,
        labels: Labels,
        bits: int,
        *,
        omega: float = 0.1,
        eta: float = 0.004,
        neighbours: int = 5,
        margin: float = 1.0,
        graph_margin: float = 2**0.5,
    ) -> None:
        super().__init__(labels, bits, omega=omega, eta=eta)
        self.neighbours, self.margin, self.graph_margin = neighbours, margin, graph_margin

    @property
    def needs_inputs(self) -> bool:
        """One graph is of the inputs."""
        return True

    def __call__(self, step: Step) -> Terms:
        """Compute the loss."""
        labelled = step.labelled
        soft, distance = torch.tanh(step.outputs), soft_distances(step.outputs, step.outputs)
        ranking = triplet_hinge(distance[:labelled, :labelled], step.similar, step.known, self.margin)
        targets = self.targets[torch.from_numpy(step.positions[:labelled])].to(soft)
        classification = self.classifier.loss(soft[:labelled], targets)

        unknown = unknown_pairs(step.known, len(soft))
        near = nearest_in_batch(step.inputs.flatten(1), self.neighbours)
        neighbourhood = squared_contrast(distance, near, self.graph_margin, unknown)
        predicted = self.classifier.predict(soft)
        predicted[:labelled] = targets
        pseudo = squared_contrast(distance, predicted @ predicted.T > 0, self.graph_margin, unknown)

        graphs = self.omega * step.weight * (neighbourhood + pseudo)
        total = ranking + classification + graphs + self.eta * quantization(step.outputs)
        return Terms(
            total,
            {
                "loss": total,
                "supervised": ranking,
                "classification": classification,
                "neighbourhood": neighbourhood,
                "pseudo": pseudo,
            },
        )


def nearest_in_batch(rows: Tensor, count: int) -> Tensor:
    """(n, d) → (n, n) bool, whether either item is among the other's nearest."""
    distance = torch.cdist(rows, rows).fill_diagonal_(torch.inf)
    nearest = distance.topk(min(count, len(rows) - 1), dim=1, largest=False).indices
    near = torch.zeros_like(distance, dtype=torch.bool).scatter_(1, nearest, True)
    return near | near.T


def build(problem: Problem, used: Used) -> SSDH:
    """SSDH; omega weighs its graphs."""
    return SSDH(problem.labels("ssdh"), used.bits, omega=used.omega, eta=used.eta)
