"""The one shape of everything that can be minimised by the training loop."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..data.images import Positions


class Terms(NamedTuple):
    """A step's loss.

    Attributes:
        total: what is minimised.
        named: its parts and whatever else is worth a line in the history, ``loss`` among them.
    """

    total: Tensor
    named: dict[str, Tensor | float]

    def figures(self) -> dict[str, float]:
        """The named parts as plain numbers."""
        return {
            name: value.item() if isinstance(value, Tensor) else value for name, value in self.named.items()
        }


@dataclass(frozen=True)
class Step:
    """What an objective may look at: a batch, whose m labelled items come first, and how far training is.

    Attributes:
        number: the step, counted from 1.
        weight: how far the unlabelled terms have ramped up, in [0, 1]; 0 as long as labelled
            items are alone in the batch.
        positions: (n,) which items they are.
        inputs: the view the student saw, for objectives that say ``needs_inputs``.
        outputs: (n, bits) of the student.
        teacher_outputs: (n, bits) of the teacher on another view, where the objective needs it.
        known: (m, m) bool, which pairs of the first m items are known; symmetric, false diagonal.
        similar: (m, m) bool, which of those are alike.
        student: the network, for objectives that run it on inputs of their own and say ``needs_inputs``.
    """

    number: int
    weight: float
    positions: Positions
    inputs: Tensor
    outputs: Tensor
    teacher_outputs: Tensor | None
    known: Tensor
    similar: Tensor
    student: nn.Module

    @property
    def taught(self) -> Tensor:
        """The teacher's outputs, without a gradient; for objectives that said they need them."""
        if self.teacher_outputs is None:
            raise RuntimeError("the teacher was not asked: an objective that wants it says needs_teacher")
        return self.teacher_outputs.detach()

    @property
    def labelled(self) -> int:
        """How many items of the batch are labelled."""
        return len(self.known)


class Objective(ABC):
    """A step → its loss."""

    @property
    def needs_teacher(self) -> bool:
        """Whether the teacher's outputs are wanted."""
        return False

    @property
    def needs_unlabelled(self) -> bool:
        """Whether unlabelled items are wanted in the batch."""
        return self.needs_teacher

    @property
    def needs_inputs(self) -> bool:
        """Whether it looks at the inputs, or runs the network itself. Only a whole batch has these."""
        return False

    def parameters(self) -> Sequence[nn.Parameter]:
        """What is learned beside the network."""
        return ()

    @abstractmethod
    def __call__(self, step: Step) -> Terms:
        """Compute the loss."""


def unknown_pairs(known: Tensor, count: int) -> Tensor:
    """(m, m) known pairs of the first m items → (count, count) pairs of different items not known."""
    unknown = torch.ones(count, count, dtype=torch.bool, device=known.device).fill_diagonal_(False)
    labelled = len(known)
    unknown[:labelled, :labelled] &= ~known
    return unknown
