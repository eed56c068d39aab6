"""What is learned from: items, what is known of their pairs, and who takes part without a label."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UserError
from .images import Positions
from .items import Items
from .known_pairs import KnownPairs
from .participants import Participants


@dataclass(frozen=True)
class TrainingSet(Participants):
    """A collection as a system may see it; queries are among the items, but in none of the other parts.

    Attributes:
        items: all items.
        known: what is known of which pair.
        pool: positions of the items that take part without a label.
    """

    items: Items
    known: KnownPairs
    pool: Positions

    def without(self, positions: Positions) -> "TrainingSet":
        """The same but for these items, which take no part; who loses all its pairs joins the pool."""
        if not len(positions):
            return self
        known = self.known.hide(positions)
        pool = np.setdiff1d(self.members, np.union1d(known.labelled, positions))
        return TrainingSet(self.items, known, pool)


def unlabelled_pool(count: int, known: KnownPairs, chosen: ArrayLike | None = None) -> Positions:
    """Positions of the items that take part without a label: all others, or those that the user chose."""
    pool = np.arange(count) if chosen is None else np.unique(np.asarray(chosen))
    if len(pool) and pool.dtype.kind not in "iu":
        raise UserError(f"unlabelled must be positions, whole numbers up to {count - 1}, got {pool.dtype}")
    if len(pool) and (pool[0] < 0 or pool[-1] >= count):
        wrong = pool[0] if pool[0] < 0 else pool[-1]
        raise UserError(f"unlabelled names item {wrong}, but there are {count} items")
    return np.setdiff1d(pool, known.labelled).astype(np.int64)
