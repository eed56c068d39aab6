"""The one shape of everything that can be minimised by the training loop."""

from typing import NamedTuple, Protocol

from torch import Tensor


class Terms(NamedTuple):
    """A step's loss.

    Attributes:
        total: what is minimised.
        named: its parts and whatever else is worth a line in the history.
    """

    total: Tensor
    named: dict[str, Tensor | float]


class Objective(Protocol):
    """Outputs and what is known of their pairs → a loss.

    """

    @property
    def needs_teacher(self) -> bool:
        """Whether the teacher's outputs, and unlabelled items, are wanted at all."""
        ...

    def __call__(
        self, outputs: Tensor, teacher_outputs: Tensor | None, known: Tensor, similar: Tensor, weight: float
    ) -> Terms:
        """Compute the loss of a batch whose labelled items stand first.

        Args:
            outputs: (n, bits) of the student.
            teacher_outputs: (n, bits) of the teacher on another view.
            known: (m, m) bool, which pairs of the first m items are known; symmetric, false diagonal.
            similar: (m, m) bool, which of those are alike.
            weight: how far the unlabelled terms have ramped up, in [0, 1].
        """
        ...
