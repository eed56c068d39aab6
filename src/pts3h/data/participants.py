"""Who takes part in training."""

import numpy as np

from .images import Positions
from .known_pairs import KnownPairs


class Participants:
    """Anything that says what is known of which pair, and who takes part without a label."""

    known: KnownPairs
    pool: Positions

    @property
    def members(self) -> Positions:
        """Positions of all items that take part, ascending."""
        return np.union1d(self.known.labelled, self.pool)
