"""The triplet hinge on soft codes, shared by SSDH and DSH-GANs."""

import torch
from torch import Tensor
from torch.nn import functional as F


def soft_distances(outputs: Tensor, others: Tensor) -> Tensor:
    """Squared distances of tanh outputs as a share of the bits: 0 to 4, 2 if unrelated.

    Args:
        outputs: (n, bits).
        others: (m, bits).
    """
    soft, other = torch.tanh(outputs), torch.tanh(others)
    square = soft.square().sum(1)[:, None] + other.square().sum(1)[None, :]
    return torch.addmm(square, soft, other.T, alpha=-2) / outputs.shape[1]


def triplet_hinge(distance: Tensor, similar: Tensor, known: Tensor, margin: float) -> Tensor:
    """Mean of max(0, margin + d(a, p) - d(a, n)) over all triplets of known pairs.

    Args:
        distance: (n, m) of n anchors.
        similar: (n, m) bool.
        known: (n, m) bool, which pairs count.
        margin: how much farther a dissimilar item should be.
    """
    near, far = known & similar, known & ~similar
    counts = (near[:, :, None] & far[:, None, :]).to(distance.dtype)
    hinge = F.relu(margin + distance[:, :, None] - distance[:, None, :])
    return (hinge * counts).sum() / counts.sum().clamp(min=1)
