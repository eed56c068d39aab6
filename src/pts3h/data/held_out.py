"""Knowledge that was kept back from training, to measure on: queries are never looked at."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes
from ..evaluation import evaluate
from .images import Positions
from .items import Labels

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


@dataclass(frozen=True)
class HeldOutLabels(HeldOut):
    """Labelled items that should find the other labelled ones: their MAP.

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
        """Mean average precision."""
        labels = self.query_labels, self.database_labels
        return evaluate(encode(self.queries), encode(self.database), labels=labels, bits=bits).map


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
