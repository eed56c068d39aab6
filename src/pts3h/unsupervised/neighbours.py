"""Nearest neighbours by cosine, in strips: memory stays linear in the number of items."""

import torch
from torch import Tensor
from torch.nn import functional as F

AT_ONCE = 2**24  # cosines, 64 MB of them


def nearest(rows: Tensor, others: Tensor, count: int, *, same: bool = False) -> tuple[Tensor, Tensor]:
    """The ``count`` nearest of ``others`` for each row: cosines and places, both (n, count), nearest first.

    Args:
        rows: (n, d).
        others: (m, d).
        count: how many to find; no more than there are.
        same: rows and others are the same items, and none is its own neighbour.
    """
    unit, targets = F.normalize(rows, dim=1), F.normalize(others, dim=1)
    strip = min(max(AT_ONCE // len(targets), 1), len(unit))
    wanted = min(count, len(targets) - same)
    cosines, places = unit.new_empty(len(unit), wanted), torch.empty(len(unit), wanted, dtype=torch.long)
    # one place for all strips: new ones would lie between what is kept, and memory grow with every strip
    room = unit.new_empty(strip, len(targets))
    for start in range(0, len(unit), strip):
        part = unit[start : start + strip]
        found = torch.mm(part, targets.T, out=room[: len(part)])
        if same:
            found.diagonal(start).fill_(-torch.inf)
        torch.topk(found, wanted, dim=1, out=(cosines[start : start + strip], places[start : start + strip]))
    return cosines, places
