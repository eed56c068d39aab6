"""What objectives share that learn classes beside codes: targets, and a linear classifier on soft codes."""

from collections.abc import Sequence

from torch import nn

from ..data.items import Labels
from .class_targets import Classifier, class_targets
from .objective import Objective


class Classifying(Objective):
    """An objective with a classifier of its own.

    Args:
        labels: of all items, -1 where unknown.
        bits: code length.
        omega: weight of what unlabelled items add.
        eta: weight of the quantization loss.
    """

    def __init__(self, labels: Labels, bits: int, *, omega: float, eta: float) -> None:
        self.targets = class_targets(labels)
        self.classifier = Classifier(bits, self.targets.shape[1], several=labels.ndim == 2)
        self.omega, self.eta = omega, eta

    @property
    def needs_unlabelled(self) -> bool:
        """Unlabelled items add nothing where their weight is 0."""
        return self.omega > 0

    def parameters(self) -> Sequence[nn.Parameter]:
        """The classifier's."""
        return list(self.classifier.parameters())
