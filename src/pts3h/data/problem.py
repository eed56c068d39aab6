"""A training set as tensors: what an objective and the training loop look at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from ..errors import UserError
from .images import Positions
from .inputs import Inputs
from .items import Labels
from .known_pairs import KnownPairs
from .participants import Participants

Similarities = Callable[[Positions], Tensor]  # (m,) positions → (m, m)


class Neighbourhood(Protocol):
    """What the items say without any pair; see :mod:`pts3h.unsupervised.guide`."""

    @property
    def members(self) -> Positions:
        """Positions of the items that it knows, ascending."""

    def guide(self, known: KnownPairs) -> Similarities:
        """Similarities that follow from the items and from what is known of pairs."""

    def nearest_pairs(self, positions: Positions, count: int) -> Positions:
        """(m, 2) pairs of these items that are among the ``count`` nearest of each other."""

    def similar_share(self, known: KnownPairs) -> float:
        """The share of alike pairs among all, as the known ones suggest."""


@dataclass(frozen=True)
class Problem(Participants):
    """What a network is trained on.

    Attributes:
        inputs: items as tensors, clean or perturbed.
        known: what is known of which pair.
        pool: positions of the items that take part without a label.
        neighbourhood: who is near whom; None where neighbours do not teach.
    """

    inputs: Inputs
    known: KnownPairs
    pool: Positions
    neighbourhood: Neighbourhood | None = None

    def labels(self, system: str) -> Labels:
        """Labels of all items, -1 where unknown; refused where only pairs are known."""
        if self.known.labels is None:
            raise UserError(f"{system} learns from labels, and only pairs are known here: give labels")
        return self.known.labels
