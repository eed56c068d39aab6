"""A training set as tensors: what an objective and the training loop look at."""

from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from .images import Positions
from .inputs import Inputs
from .items import Labels
from .known_pairs import KnownPairs


@dataclass(frozen=True)
class Problem:
    """What a network is trained on.

    Attributes:
        inputs: items as tensors, clean or perturbed.
        known: what is known of which pair.
        pool: positions of the items that take part without a label.
    """

    inputs: Inputs
    known: KnownPairs
    pool: Positions

    @property
    def members(self) -> Positions:
        """Positions of all items that take part, ascending."""
        return np.union1d(self.known.labelled, self.pool)

    def labels(self, system: str) -> Labels:
        """Labels of all items, -1 where unknown; refused where only pairs are known."""
        if self.known.labels is None:
            raise UserError(f"{system} learns from labels, and only pairs are known here: give labels")
        return self.known.labels
