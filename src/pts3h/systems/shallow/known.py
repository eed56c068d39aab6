"""What a shallow system learns from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...data.training_set import TrainingSet
from .signed_pairs import Signed, signed_pairs


@dataclass(frozen=True)
class Known:
    """Vectors of the items that take part, and what is known of their pairs.

    Attributes:
        vectors: (items, d) of all items; only those that take part may be looked at.
        training: who takes part, and what is known.
    """

    vectors: NDArray[np.floating]
    training: TrainingSet

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """(n, d) of all items that take part."""
        return np.asarray(self.vectors[self.training.members], np.float32)

    @cached_property
    def labelled(self) -> NDArray[np.float32]:
        """(m, d) of the items in known pairs."""
        return np.asarray(self.vectors[self.training.known.labelled], np.float32)

    def signed(self) -> Signed:
        """(m, m) of +1 alike, -1 not, 0 unknown; a fresh matrix, which may be used up."""
        return signed_pairs(self.training.known)
