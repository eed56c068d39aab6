"""Classes beside pairs, where labels are known: soft codes must tell them, known ones and guessed ones.

A pair says that two items are alike; a label says it of all items of the class at once. Guesses are made as
in FixMatch (Sohn et al., NeurIPS 2020): by the teacher, on its own view, and only what it is sure of counts.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.items import Labels
from .class_targets import Classifier, class_targets
from .objective import Step

SURE = 0.9  # a guess that is less likely does not count


class Classes:
    """A linear classifier on soft codes.

    Args:
        labels: of all items, -1 where unknown.
        bits: code length.
    """

    def __init__(self, labels: Labels, bits: int) -> None:
        self.targets = class_targets(labels)
        self.classifier = Classifier(bits, self.targets.shape[1], several=labels.ndim == 2)

    def parameters(self) -> Sequence[nn.Parameter]:
        """The classifier's."""
        return list(self.classifier.parameters())

    def known(self, step: Step) -> Tensor:
        """Mean cross-entropy of the labelled items of a batch."""
        if not step.labelled:
            return step.outputs.new_zeros(())
        targets = self.targets[torch.from_numpy(step.positions[: step.labelled])].to(step.outputs)
        return self.classifier.loss(torch.tanh(step.outputs[: step.labelled]), targets)

    def guessed(self, step: Step) -> Tensor:
        """Mean cross-entropy of the other items with what the teacher is sure of; 0 where it is not."""
        logits, taught = (
            self.classifier.layer(torch.tanh(outputs[step.labelled :]))
            for outputs in (step.outputs, step.taught)
        )
        if not len(logits):
            return step.outputs.new_zeros(())
        taught = taught.detach()
        if self.classifier.several:
            chances = taught.sigmoid()
            sure = (chances - 0.5).abs() >= SURE - 0.5
            return F.binary_cross_entropy_with_logits(logits, (chances > 0.5).to(logits), sure.to(logits))
        chances, classes = taught.softmax(1).max(1)
        loss: Tensor = F.cross_entropy(logits, classes, reduction="none") * (chances >= SURE)
        return loss.mean()
