"""What most systems share: a pairwise loss on known pairs, a regulariser on all items, and rounding.

L = L_s + omega(t) R_u + eta Q
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypedDict

from torch import Tensor

from ..losses.pairwise import PairwiseLoss
from ..losses.quantization import quantization
from ..losses.table import LOSSES
from ..settings.used import Used
from .objective import Objective, Step, Terms


@dataclass(kw_only=True)
class SemiSupervised(Objective):
    """A pairwise loss with a regulariser R_u; omega = 0 is the supervised system.

    Attributes:
        pairwise: the base loss L_s.
        omega: weight of the regulariser.
        eta: weight of the quantization loss.
    """

    pairwise: PairwiseLoss
    omega: float
    eta: float

    @property
    def needs_unlabelled(self) -> bool:
        """Supervised training needs no unlabelled items."""
        return self.omega > 0

    def __call__(self, step: Step) -> Terms:
        """Compute the loss."""
        pairwise = self.pairwise.at(step.number)
        supervised = step.outputs.new_zeros(())
        if step.labelled:
            supervised = pairwise.supervised(step.outputs[: step.labelled], step.similar, step.known)
        rounding = quantization(step.outputs)
        total = supervised + self.eta * rounding
        named: dict[str, Tensor | float] = {"supervised": supervised, "quantization": rounding}
        if self.needs_unlabelled and step.weight:
            omega = self.omega * step.weight
            regulariser, parts = self.regulariser(step)
            total = total + omega * regulariser
            named |= {**parts, "omega": omega}
        return Terms(total, {"loss": total, **named})

    @abstractmethod
    def regulariser(self, step: Step) -> tuple[Tensor, dict[str, Tensor | float]]:
        """R_u, and its parts by name."""


class Shared(TypedDict):
    """What every semi-supervised objective takes."""

    pairwise: PairwiseLoss
    omega: float
    eta: float


def base_loss(used: Used) -> PairwiseLoss:
    """The pairwise loss of the settings."""
    return LOSSES.find(used.loss).build(used.bits, divide=used.divide, reading=used.pseudo)


def shared(used: Used) -> Shared:
    """The base loss and the two weights of the settings."""
    return {"pairwise": base_loss(used), "omega": used.omega, "eta": used.eta}
