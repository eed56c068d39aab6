"""A training set as tensors: what an objective and the training loop look at."""

from dataclasses import dataclass

from ..errors import UserError
from .images import Positions
from .inputs import Inputs
from .items import Labels
from .known_pairs import KnownPairs
from .participants import Participants


@dataclass(frozen=True)
class Problem(Participants):
    """What a network is trained on.

    Attributes:
        inputs: items as tensors, clean or perturbed.
        known: what is known of which pair.
        pool: positions of the items that take part without a label.
    """

    inputs: Inputs
    known: KnownPairs
    pool: Positions

    def labels(self, system: str) -> Labels:
        """Labels of all items, -1 where unknown; refused where only pairs are known."""
        if self.known.labels is None:
            raise UserError(f"{system} learns from labels, and only pairs are known here: give labels")
        return self.known.labels
