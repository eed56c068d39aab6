"""Knowledge that was kept back from training, to measure on: queries are never looked at."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..codes import Codes
from ..evaluation import Report, evaluate
from .images import Positions
from .items import Labels

SAMPLE = 1000  # labelled items that stand for all
MOST = 0.5  # of the items kept back

Encode = Callable[[Positions], Codes]


class HeldOut(ABC):
    """What was kept back."""

    @abstractmethod
    def score(self, encode: Encode, bits: int) -> float:
        """How well codes do on it, from 0 to 1.

        Args:
            encode: positions of items → their packed codes.
            bits: code length.
        """

    @abstractmethod
    def pairs_among(self, count: int, rng: Generator) -> tuple[Positions, NDArray[np.bool_]]:
        """At most ``count`` pairs (m, 2) that were kept back, and which of them are alike."""


@dataclass(frozen=True)
class HeldOutLabels(HeldOut):
    """Labelled items that should find each other: their MAP.

    Items that were learned from are easily found by those that resemble them by heart. They are the database
    only where most of the items kept back have no fellow among themselves.

    Attributes:
        queries: positions of the items kept back.
        query_labels: their labels.
        database: positions of the other labelled items.
        database_labels: their labels.
    """

    queries: Positions
    query_labels: Labels
    database: Positions
    database_labels: Labels

    def score(self, encode: Encode, bits: int) -> float:
        """Mean average precision of those that have something to find."""
        codes = encode(self.queries)
        mine, others = self.query_labels, self.database_labels
        report = evaluate(codes, codes, labels=(mine, mine), bits=bits).without_self()
        if np.mean(has_fellow(report)) < MOST:
            report = evaluate(codes, encode(self.database), labels=(mine, others), bits=bits)
        found = report.average_precisions()[has_fellow(report)]
        return float(found.mean()) if len(found) else 0.0

    def pairs_among(self, count: int, rng: Generator) -> tuple[Positions, NDArray[np.bool_]]:
        """Items kept back beside others; half of the pairs alike, where there are as many."""
        queries = rng.permutation(len(self.queries))[:SAMPLE]
        database = rng.permutation(len(self.database))[:SAMPLE]
        mine, others = self.query_labels[queries], self.database_labels[database]
        alike = mine[:, None] == others[None, :] if mine.ndim == 1 else mine @ others.T > 0
        chosen = []
        for kind in (alike, ~alike):
            found = np.argwhere(kind)
            chosen.append(found[rng.permutation(len(found))[: count // 2]])
        a, b = np.concatenate(chosen).T
        pairs = np.stack([self.queries[queries[a]], self.database[database[b]]], axis=1)
        return pairs, np.arange(len(pairs)) < len(chosen[0])


def has_fellow(report: Report) -> NDArray[np.bool_]:
    """(q,) whether a query has anything to find."""
    return np.asarray(report.relevant.any(axis=1))


@dataclass(frozen=True)
class HeldOutPairs(HeldOut):
    """Pairs whose distances should tell the similar ones from the others.

    Attributes:
        pairs: (m, 2) positions.
        similar: (m,) which of them are similar.
    """

    pairs: Positions
    similar: NDArray[np.bool_]

    def score(self, encode: Encode, bits: int) -> float:
        """Average precision of the similar pairs, nearest first."""
        a, b = (encode(ends) for ends in self.pairs.T)
        # the XOR of two codes is as far from the zero code as the two are from each other
        return evaluate(np.zeros_like(a[:1]), a ^ b, self.similar[None], bits=bits).map

    def pairs_among(self, count: int, rng: Generator) -> tuple[Positions, NDArray[np.bool_]]:
        """The pairs themselves, or some of them by chance."""
        chosen = rng.permutation(len(self.pairs))[:count]
        return self.pairs[chosen], self.similar[chosen]
