"""What questions are chosen from: items to learn from and items to judge by, of very many some by chance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..data.images import Positions
from .kept_back import ONE_IN, kept_back

TAUGHT = 2_000
JUDGES = 200
PAIRS = 20_000


@dataclass(frozen=True)
class Draw:
    """Some items of a collection, and pairs of them, by their positions.

    Attributes:
        taught: items to learn from.
        judges: items whose answers are kept back. They are drawn by chance and asked about by chance, so that
            they stand for the whole collection.
        pairs: (m, 2) of items to learn from.
        judging_pairs: (m, 2) of an item that judges and another.
    """

    taught: Positions
    judges: Positions
    pairs: Positions
    judging_pairs: Positions

    def __len__(self) -> int:
        return len(self.taught) + len(self.judges)


def draw(ids: Sequence[str], free: Callable[[str], bool], rng: Generator) -> Draw:
    """Some of the items that are free, by chance."""
    taught: list[int] = []
    judges: list[int] = []
    for place in rng.permutation(len(ids)).tolist():
        if len(taught) == TAUGHT and len(judges) == JUDGES:
            break
        if free(ids[place]):
            some, most = (judges, JUDGES) if kept_back(ids[place]) else (taught, TAUGHT)
            if len(some) < most:
                some.append(place)
    chosen, judging = np.array(taught, np.int64), np.array(judges, np.int64)
    pairs, others = some_pairs(chosen, chosen, rng), some_pairs(judging, chosen, rng)
    return Draw(chosen, judging, pairs[pairs[:, 0] < pairs[:, 1]], others)


def some_pairs(one: Positions, other: Positions, rng: Generator) -> Positions:
    """(m, 2) all pairs of one of these and one of those, or many of them, in any order."""
    count = len(one) * len(other)
    chosen = rng.permutation(count) if count <= 2 * PAIRS else rng.integers(count, size=2 * PAIRS)
    first, second = np.divmod(chosen, max(len(other), 1))
    return np.stack([one[first], other[second]], axis=1)


def judges_next(kept: int, total: int) -> bool:
    """Whether the next answer is to be kept back: one in ten, and not the first ones."""
    return ONE_IN * (kept + 1) <= total + 1
