"""Contrast of plain distances, as SNTG and SSDH use it."""

import torch
from torch import Tensor
from torch.nn import functional as F


def squared_contrast(square: Tensor, similar: Tensor, margin: float, mask: Tensor) -> Tensor:
    """Mean over ``mask`` of d² where similar and max(0, margin - d)² elsewhere.

    Args:
        square: (n, n) squared distances d².
        similar: (n, n) bool.
        margin: how far others should be.
        mask: (n, n) bool, which pairs count.
    """
    # a root has no slope at 0, hence the small number under it
    push = F.relu(margin - square.clamp(min=1e-6).sqrt()).square()
    each = torch.where(similar, square, push)
    return (each * mask).sum() / mask.sum().clamp(min=1)
