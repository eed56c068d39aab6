"""How alike any two items are, from the shape of the collection and a few known pairs, before any training.

It is what the network learns from where no pair is known: see :class:`pts3h.objectives.pts3h.PTS3H`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.random import default_rng
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ..data.images import Positions
from ..data.known_pairs import KnownPairs
from .classes import ClassGuide, class_chances
from .diffusion import diffuse
from .linear import LinearCoder, mean_and_covariance, principal_directions
from .metric import blend, scatter, whitening
from .neighbours import nearest
from .share import alike_share

Rows = Callable[[Positions], NDArray[np.float32]]

DIRECTIONS = 128  # principal directions of the features that count
LARGEST_GRAPH = 30_000
FARTHEST = 100_000  # items that are placed beside the graph; more are never drawn into a run's batches
ANCHORS = 5  # neighbours in the graph that place an item outside of it
ALIKE_NEIGHBOURS = 10
MOST_PAIRS = 2_000
CHANCE_PAIRS = 20_000
LOCALITY = 6  # how fast what a pair says fades with the distance from it
TRUST = 1.0  # pairs that the graph's own word counts for


@dataclass(frozen=True)
class Guide:
    """Similarities of items, from -1 to 1.

    Attributes:
        places: (n,) row of each item in ``rows``, -1 for an item that takes no part.
        rows: (m, e) unit vectors, whose cosines are similarities along the graph.
        first: (p, e) rows of the first items of the known pairs.
        second: (p, e) rows of the second items.
        says: (p,) what each pair says: positive for alike, negative for not alike.
    """

    places: NDArray[np.int64]
    rows: Tensor
    first: Tensor
    second: Tensor
    says: Tensor

    def __call__(self, positions: Positions) -> Tensor:
        """(m, m) how alike the items at ``positions`` are.

        The graph's word, and what each known pair says, weighed by how near its ends are to the two items.
        """
        rows = self.rows[self.places[positions]]
        similarity = rows @ rows.T
        if not len(self.says):
            return similarity
        near_first, near_second = (closeness(rows, ends) for ends in (self.first, self.second))
        said, weight = (
            near_first @ (near_second * self.says).T,
            near_first @ (near_second * self.says.abs()).T,
        )
        return (TRUST * similarity + said + said.T) / (TRUST + weight + weight.T)


def closeness(rows: Tensor, ends: Tensor) -> Tensor:
    """(m, p) from 0 to 1, how near rows are to the ends of pairs."""
    return (rows @ ends.T).clamp_(min=0).pow_(LOCALITY)


@dataclass(frozen=True)
class Neighbourhood:
    """What the items say without any pair.

    Attributes:
        count: number of items of the collection.
        members: positions of the items that take part and are placed, ascending.
        rows: (m, d) their features, centred, in principal directions.
        chosen: (g,) which of them are in the graph.
    """

    count: int
    members: Positions
    rows: Tensor
    chosen: Tensor

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """(count,) row of each item, -1 for one that takes no part."""
        places = np.full(self.count, -1)
        places[self.members] = np.arange(len(self.members))
        return places

    @cached_property
    def along(self) -> Tensor:
        """(g, e) where the items of the graph are along it, by their features alone."""
        return diffuse(self.rows[self.chosen])

    @cached_property
    def coordinates(self) -> Tensor:
        """(m, e) the same of all items."""
        return self._with_others(self.rows, self.along)

    @cached_property
    def spread(self) -> Tensor:
        """How items differ from their neighbours along the graph."""
        core, along = self.rows[self.chosen], self.along
        _, places = nearest(along, along, min(ALIKE_NEIGHBOURS, len(core) - 1), same=True)
        return scatter(core.repeat_interleave(places.shape[1], dim=0), core[places.flatten()])

    def nearest_pairs(self, positions: Positions, count: int) -> Positions:
        """(m, 2) pairs of these items that are among the ``count`` nearest of each other along the graph."""
        rows = self.coordinates[self.places[positions]]
        _, near = nearest(rows, rows, count, same=True)
        is_near = np.zeros((len(positions), len(positions)), bool)
        np.put_along_axis(is_near, near.numpy(), True, axis=1)
        pairs: Positions = positions[np.argwhere(np.triu(is_near & is_near.T))]
        return pairs

    def similar_share(self, known: KnownPairs) -> float:
        """The share of alike pairs among all, as the known ones suggest."""
        pairs, similar = known.sample_pairs(MOST_PAIRS, default_rng(0))
        ends = torch.from_numpy(self.places[pairs])
        chance = torch.from_numpy(default_rng(1).integers(len(self.members), size=(CHANCE_PAIRS, 2)))
        chance = chance[chance[:, 0] != chance[:, 1]]
        between = [(self.coordinates[a] * self.coordinates[b]).sum(1).numpy() for a, b in (ends.T, chance.T)]
        return alike_share(between[0], similar, between[1])

    def guide(self, known: KnownPairs) -> Guide | ClassGuide:
        """Similarities that follow from the items and from what is known: one class each, or pairs."""
        pairs, similar = known.sample_pairs(MOST_PAIRS, default_rng(0))
        ends = torch.from_numpy(self.places[pairs])
        alike = ends[torch.from_numpy(similar)]
        spread = self.spread
        if len(alike):
            spread = blend(spread, scatter(self.rows[alike[:, 0]], self.rows[alike[:, 1]]), len(alike))
        features = self.rows @ whitening(spread)
        rows = self._with_others(features, diffuse(features[self.chosen], self._in_graph(alike)))
        if known.labels is not None and known.labels.ndim == 1:
            labelled = torch.from_numpy(self.places[known.labelled])
            chances = class_chances(rows, labelled, known.labels[known.labelled])
            return ClassGuide(self.places, chances)
        return Guide(self.places, rows, rows[ends[:, 0]], rows[ends[:, 1]], says(similar))

    def _with_others(self, features: Tensor, along: Tensor) -> Tensor:
        """Coordinates of all members: those outside of the graph follow their neighbours in it."""
        if len(along) == len(features):
            return along
        outside = torch.ones(len(features), dtype=torch.bool)
        outside[self.chosen] = False
        cosines, places = nearest(features[outside], features[self.chosen], ANCHORS)
        placed = along.new_empty(len(features), along.shape[1])
        placed[self.chosen] = along
        weights = cosines.clamp(min=1e-3).pow(3)[:, :, None]
        placed[outside] = F.normalize((weights * along[places]).sum(dim=1), dim=1)
        return placed

    def _in_graph(self, pairs: Tensor) -> Tensor:
        """Pairs of rows as places in the graph, without those that have an end outside of it."""
        places = torch.full((len(self.rows),), -1)
        places[self.chosen] = torch.arange(len(self.chosen))
        inside = places[pairs]
        return inside[(inside >= 0).all(dim=1)]


def says(similar: NDArray[np.bool_]) -> Tensor:
    """+ for alike, - for not alike; both kinds weigh the same in all, however many of each a user marked."""
    alike = torch.from_numpy(similar).float()
    count, most = len(alike), float(alike.sum())
    if most in (0, count):
        return 2 * alike - 1
    return torch.where(alike > 0, count / (2 * most), -count / (2 * (count - most)))


def neighbourhood(count: int, members: Positions, known: KnownPairs, rows: Rows) -> Neighbourhood:
    """The neighbourhood of the members: of those of known pairs, and of very many others some by chance.

    Args:
        count: number of items of the collection.
        members: positions of those that take part.
        known: what is known of pairs.
        rows: positions → features (m, d).
    """
    rng = default_rng(0)
    labelled, others = known.labelled, rng.permutation(np.setdiff1d(members, known.labelled))
    placed = np.sort(np.concatenate([labelled, others[: max(FARTHEST - len(labelled), 0)]]))
    core = rng.permutation(labelled)[: LARGEST_GRAPH // 2]
    core = np.concatenate([core, others[: LARGEST_GRAPH - len(core)]])
    chosen = torch.from_numpy(np.flatnonzero(np.isin(placed, core)))
    features = rows(placed)
    center, covariance = mean_and_covariance(features[chosen.numpy()])
    directions = principal_directions(covariance, min(DIRECTIONS, features.shape[1]))
    return Neighbourhood(count, placed, torch.from_numpy(LinearCoder(center, directions)(features)), chosen)
