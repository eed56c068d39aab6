"""Which items are in which batch: a labelled stream and an unlabelled one.

A batch depends on the seed and the step alone, so a resumed run needs no saved position.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from ..errors import UserError
from .images import Positions
from .items import Labels
from .known_pairs import KnownPairs, Mask

LEAST = 1  # alike items that a labelled item of a batch meets by chance; where fewer, each brings some
BROUGHT = 3


@dataclass(frozen=True)
class Batch:
    """One step's items: the labelled ones first.

    Attributes:
        positions: (n,) different items.
        known: (m, m) which pairs of the m labelled items are known.
        similar: (m, m) which of those are alike.
    """

    positions: Positions
    known: Mask
    similar: Mask


@dataclass(frozen=True)
class Share:
    """Consecutive items of a batch: those that one of several processes runs through the networks.

    Attributes:
        start: where they begin.
        stop: where the next ones begin.
        count: items in the whole batch.
    """

    start: int
    stop: int
    count: int

    @property
    def rows(self) -> slice:
        """Their places in the batch."""
        return slice(self.start, self.stop)

    def __len__(self) -> int:
        return self.stop - self.start


class Shuffled:
    """Endless rounds, each a fresh order of 0..count-1 cut into groups; an incomplete group is dropped."""

    def __init__(self, count: int, group: int, seed: tuple[int, ...]) -> None:
        self.count, self.group, self.seed = count, min(group, count), seed
        self.groups = count // self.group if self.group else 0
        self._round, self._order = -1, np.empty(0, np.int64)

    def at(self, step: int) -> Positions:
        """The group of this step, counted from 0."""
        if not self.groups:
            return np.empty(0, np.int64)
        turn, place = divmod(step, self.groups)
        if turn != self._round:
            self._round, self._order = turn, default_rng((*self.seed, turn)).permutation(self.count)
        return self._order[place * self.group : (place + 1) * self.group]


class Batches:
    """Batches of labelled and unlabelled items.

    From labels the labelled part is a random group of labelled items. Where classes are so many that hardly
    two of a class would meet, each of fewer items brings some of its class. From a pair list it is both ends
    of a random group of pairs, half as many pairs as items, since a random group of items may hold no known
    pair at all.

    Args:
        known: what is known of pairs.
        pool: positions of the unlabelled items.
        labelled: labelled items per batch.
        unlabelled: unlabelled items per batch; 0 for supervised training.
        seed: of the order.
    """

    def __init__(
        self, known: KnownPairs, pool: Positions, *, labelled: int, unlabelled: int, seed: int
    ) -> None:
        if labelled < 2:
            raise UserError(f"a batch needs at least two labelled items to hold a pair, got {labelled}")
        self.known, self.pool, self.seed = known, pool, seed
        self._brought = alike_to_bring(known, labelled)
        each = known.items_per_unit * (1 + self._brought)
        self._labelled = Shuffled(known.units, labelled // each, (seed, 0))
        self._unlabelled = Shuffled(len(pool), unlabelled, (seed, 1))

    @property
    def steps_per_epoch(self) -> int:
        """Steps in one pass over the unlabelled items, or over what is labelled where there are none."""
        return max(self._unlabelled.groups or self._labelled.groups // (1 + self._brought), 1)

    def at(self, step: int, *, joined: bool = True) -> Batch:
        """The batch of this step, counted from 0; the unlabelled items are in it once they ``joined``."""
        labelled = self.known.items_of(self._labelled.at(step))
        if self.known.labels is not None and self._brought:
            rng = default_rng((self.seed, 2, step))
            labelled = with_alike(self.known.labels, labelled, self._brought, rng)
        known, similar = self.known.block(labelled)
        beside = self.pool[self._unlabelled.at(step)] if joined else self.pool[:0]
        return Batch(np.concatenate([labelled, beside]), known, similar)


def alike_to_bring(known: KnownPairs, group: int) -> int:
    """How many alike items each labelled item of a group brings; none where it meets enough by chance.

    None either where the group is too small for two such items, or where it is made of known pairs.
    """
    enough = known.labels is None or known.similar_share * (group - 1) >= LEAST
    return 0 if enough or group < 2 * (1 + BROUGHT) else BROUGHT


def with_alike(labels: Labels, items: Positions, count: int, rng: Generator) -> Positions:
    """The items, each with at most ``count`` others of its class, or of one of its classes, by chance."""
    groups = [items]
    for item in items:
        own = labels[item]
        alike = labels == own if labels.ndim == 1 else (labels[:, own > 0] > 0).any(axis=1)
        others = np.setdiff1d(np.flatnonzero(alike), item, assume_unique=True)
        groups.append(rng.permutation(others)[:count])
    return np.unique(np.concatenate(groups))
