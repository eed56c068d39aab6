"""How far apart pairs are by meaning: alike, not alike, and drawn by chance.

Look bits know nothing of the known pairs, so they are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..codes import distances
from ..data.known_pairs import KnownPairs, Mask
from .coded import Coded

MOST_ITEMS = 2000  # whose pairs stand for all pairs


@dataclass(frozen=True)
class Distances:
    """Pairs of one kind by the Hamming distance of their learned bits.

    Attributes:
        kind: "alike", "not alike" or "random".
        counts: (bits + 1,) how many pairs there are at each distance.
    """

    kind: str
    counts: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return int(self.counts.sum())

    def reached_by(self, share: float) -> int:
        """The smallest distance within which this share of the pairs lies."""
        return int(np.searchsorted(self.counts.cumsum(), share * self.pairs))

    def share_within(self, distance: float) -> float:
        """The share of pairs at most so far apart."""
        return float(self.counts[np.arange(len(self.counts)) <= distance].sum() / self.pairs)


def pair_distances(coded: Coded, known: KnownPairs | None, rng: Generator) -> list[Distances]:
    """Distances of known and of random pairs; a kind that has no pairs is left out."""
    found = []
    if known is not None:
        is_known, similar = known.block(coded.positions[coded.pairs])
        found.append(counted("alike", coded, coded.pairs, is_known & similar))
        found.append(counted("not alike", coded, coded.pairs, is_known & ~similar))
    count = min(len(coded.chance), MOST_ITEMS)
    rows = np.sort(rng.choice(coded.chance, count, replace=False))
    found.append(counted("random", coded, rows, np.ones((count, count), bool)))
    return [kind for kind in found if kind.pairs]


def counted(kind: str, coded: Coded, rows: Sequence[int] | NDArray[np.int64], wanted: Mask) -> Distances:
    """The wanted pairs of some rows, each once, by distance."""
    codes = coded.codes[rows]
    found = distances(codes, codes, coded.layout, "meaning")[np.triu(wanted, k=1)]
    return Distances(kind, np.bincount(found, minlength=coded.layout.meaning + 1))


def nearer(alike: Distances, other: Distances) -> float:
    """How often a pair of ``alike`` is nearer than one of ``other``; a tie counts half."""
    beyond = other.pairs - other.counts.cumsum()
    return float(alike.counts @ (beyond + other.counts / 2) / (alike.pairs * other.pairs))


def threshold_distance(threshold: float, bits: int) -> float:
    """The similarity 2 cos - 2 that the teacher calls alike, as the distance of codes with that cosine.

    The cosine of two codes of -1 and +1 at distance d is 1 - 2 d / bits.
    """
    return max(-threshold * bits / 4, 0.0)  # a cosine may be rounded to more than 1
