"""Nearest neighbours by cosine, in strips: memory stays linear in the number of items."""

import torch
from torch import Tensor
from torch.nn import functional as F

STRIP = 2048


def nearest(rows: Tensor, others: Tensor, count: int, *, same: bool = False) -> tuple[Tensor, Tensor]:
    """The ``count`` nearest of ``others`` for each row: cosines and places, both (n, count), nearest first.

    Args:
        rows: (n, d).
        others: (m, d).
        count: how many to find; no more than there are.
        same: rows and others are the same items, and none is its own neighbour.
    """
    unit, targets = F.normalize(rows, dim=1), F.normalize(others, dim=1)
    cosines, places = [], []
    for start in range(0, len(unit), STRIP):
        found = unit[start : start + STRIP] @ targets.T
        if same:
            found.diagonal(start).fill_(-torch.inf)
        values, indices = found.topk(min(count, len(targets) - same), dim=1)
        cosines.append(values)
        places.append(indices)
    return torch.cat(cosines), torch.cat(places)
