"""Networks that are trained whole, on pictures: the hasher does that, for every system that is its loss."""

from typing import Any

import numpy as np

from ..codes import Codes
from ..config import Network
from ..data.datasets import Dataset
from ..data.splits import Split
from ..errors import UserError
from ..hasher import Hasher
from ..losses.names import LOSSES
from .plan import Cell

VARIANTS: dict[str, dict[str, Any]] = {"p": {"gamma": 0.0}, "q": {"consistency": False}, "s": {}}


def hasher_settings(method: str) -> dict[str, Any]:
    """What makes a hasher this system: a loss, with or without its unlabelled terms.

    ``dsh`` is supervised, ``pts3h-dsh`` the paper's, ``pts3h-p``, ``-q`` and ``-s`` its variants.
    """
    head, _, tail = method.partition("-")
    if head == "pts3h" and tail in VARIANTS:
        return {"loss": "dsh", **VARIANTS[tail]}
    loss = tail if head == "pts3h" else method
    if loss not in LOSSES:
        raise UserError(f"{method} is not trained whole here: leave out --fine-tune, or this method")
    return {"loss": loss} if head == "pts3h" else {"loss": loss, "omega": 0.0}


def fine_tuned_codes(
    data: Dataset, split: Split, cell: Cell, settings: dict[str, Any]
) -> tuple[Codes, Codes, list[dict[str, float]]]:
    """Train backbone and head; codes of the queries and of the database, and the history."""
    chosen = {**settings, **hasher_settings(cell.method), "bits": cell.bits, "seed": cell.seed}
    hidden = np.full_like(data.labels, -1)
    hidden[split.labelled] = data.labels[split.labelled]
    hasher = Hasher(**chosen).fit(data.items, labels=hidden, unlabelled=split.database, progress=False)
    network: Network = "student" if cell.method == "pts3h-s" else "teacher"
    parts = [data.items.subset(positions) for positions in (split.queries, split.database)]
    queries, database = (hasher.encode(part, network=network, progress=False) for part in parts)
    return queries, database, hasher.history
