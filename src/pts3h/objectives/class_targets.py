"""Classes as rows of 0 and 1, and a linear classifier on outputs, for the systems that learn from labels."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.items import Labels


def class_targets(labels: Labels) -> Tensor:
    """(n,) class numbers or (n, classes) flags, -1 where unknown → (n, classes) of 0 and 1."""
    if labels.ndim == 2:
        return torch.from_numpy(np.maximum(labels, 0)).float()
    one_hot = np.zeros((len(labels), int(labels.max()) + 1), np.float32)
    known = np.flatnonzero(labels >= 0)
    one_hot[known, labels[known]] = 1
    return torch.from_numpy(one_hot)


class Classifier(nn.Module):
    """A linear layer that tells classes, one per item or several.

    Args:
        inputs: numbers in an input row.
        classes: how many there are.
        several: whether an item may have more than one class, or none.
    """

    def __init__(self, inputs: int, classes: int, *, several: bool) -> None:
        super().__init__()
        self.layer, self.several = nn.Linear(inputs, classes), several

    def loss(self, rows: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy."""
        logits = self.layer(rows)
        if self.several:
            return F.binary_cross_entropy_with_logits(logits, targets)
        return F.cross_entropy(logits, targets)

    @torch.no_grad()
    def predict(self, rows: Tensor) -> Tensor:
        """(n, classes) of 0 and 1: the likeliest class, or every class likelier than not."""
        logits: Tensor = self.layer(rows)
        if self.several:
            return (logits > 0).to(rows.dtype)
        return F.one_hot(logits.argmax(1), logits.shape[1]).to(rows.dtype)
