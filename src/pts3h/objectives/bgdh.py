"""Bipartite Graph based Deep Hashing (Yan et al., IJCAI 2017): likelihood of pairs, and a graph of all items.

The graph joins items with anchors near them; a skip-gram model says which anchors are an item's context.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.images import Positions
from ..data.inputs import Inputs
from ..data.problem import Problem
from ..settings.used import Used
from .objective import Step
from .semi_supervised import SemiSupervised, shared

CHUNK = 2048


@dataclass(kw_only=True)
class BGDH(SemiSupervised):
    """R_u = -log sigmoid(w_c'e_i) for the item's own anchors c, -log sigmoid(-w_c'e_i) for others.

    The paper learns the embedding e beside the features and joins both. Every system has the same network
    here, so e is the normalised output itself; the context vectors w of the anchors are learned beside it.

    Attributes:
        bits: code length.
        anchors: (items, links) each item's nearest anchors, -1 for items that take no part.
        count: number of anchors.
        negatives: other anchors drawn for an item at a step.
    """

    bits: int
    anchors: NDArray[np.int64]
    count: int
    negatives: int = 10
    contexts: nn.Parameter = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.contexts = nn.Parameter(torch.randn(self.count, self.bits) / self.bits**0.5)

    def parameters(self) -> Sequence[nn.Parameter]:
        """The anchors' context vectors."""
        return [self.contexts]

    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """The skip-gram loss of the batch."""
        own = torch.from_numpy(self.anchors[step.positions]).to(step.outputs.device)
        others = torch.randint(self.count, (len(own), self.negatives), device=own.device)
        # an item's own anchor drawn by chance is no negative
        is_other = (others[:, :, None] != own[:, None, :]).all(2)
        loss = skip_gram(F.normalize(step.outputs, dim=1), self.contexts, own, others, is_other)
        return loss, {"graph": loss}


def skip_gram(embeddings: Tensor, contexts: Tensor, own: Tensor, others: Tensor, is_other: Tensor) -> Tensor:
    """Mean over items of -log sigmoid(w'e) over their own contexts and -log sigmoid(-w'e) over others.

    Args:
        embeddings: (n, d) e.
        contexts: (anchors, d) w.
        own: (n, links) the items' contexts.
        others: (n, negatives) drawn ones.
        is_other: (n, negatives) which of those count.
    """
    scores = embeddings @ contexts.T
    near = F.softplus(-scores.gather(1, own)).mean(1)
    far = F.softplus(scores.gather(1, others)) * is_other
    return (near + far.sum(1) / is_other.sum(1).clamp(min=1)).mean()


def anchor_graph(
    inputs: Inputs, members: Positions, *, count: int = 300, links: int = 2, seed: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Random members as anchors, and each member's nearest ones by position (-1 for other items).

    Args:
        inputs: items as tensors.
        members: positions of the items in the graph.
        count: number of anchors, at most.
        links: anchors an item is joined with.
        seed: of the choice.
    """
    count = min(count, len(members))
    chosen = np.random.default_rng((seed, 31)).choice(members, count, replace=False)
    anchors = torch.from_numpy(inputs.rows(chosen))
    graph = np.full((int(members.max()) + 1, min(links, count)), -1, np.int64)
    for start in range(0, len(members), CHUNK):
        part = members[start : start + CHUNK]
        distance = torch.cdist(torch.from_numpy(inputs.rows(part)), anchors)
        graph[part] = distance.topk(graph.shape[1], dim=1, largest=False).indices.numpy()
    return graph, count


def build(problem: Problem, used: Used) -> BGDH:
    """BGDH; omega weighs its graph."""
    anchors, count = anchor_graph(problem.inputs, problem.members, seed=used.seed)
    return BGDH(**shared(used), bits=used.bits, anchors=anchors, count=count)
