"""Networks that are trained whole, on pictures: the hasher does that, for every system that is its loss."""

from pathlib import Path
from typing import Any

from ..codes import Codes
from ..data.datasets.dataset import Dataset
from ..data.splits import Split
from ..errors import UserError
from ..hasher import Hasher
from ..settings import Network
from ..training.output_folder import is_unfinished
from .plan import Cell, defining_settings
from .sources import known_labels


def fine_tuned_codes(
    data: Dataset, split: Split, cell: Cell, settings: dict[str, Any], folder: Path
) -> tuple[Codes, Codes, list[dict[str, float]]]:
    """Train backbone and head; codes of the queries and of the database, and the history."""
    if not defining_settings(cell.method):
        raise UserError(f"{cell.method} is not trained whole here: leave out --fine-tune, or this method")
    hasher = trained(data, split, cell, settings, folder / cell.file.removesuffix(".json"))
    network: Network = "student" if cell.method == "pts3h-s" else "teacher"
    parts = [data.items.subset(positions) for positions in (split.queries, split.database)]
    queries, database = (hasher.encode(part, network=network, progress=False) for part in parts)
    return queries, database, hasher.history


def trained(data: Dataset, split: Split, cell: Cell, settings: dict[str, Any], model: Path) -> Hasher:
    """Train, and leave the model in its folder: it may take hours.

    A run that was stopped goes on from its checkpoint, and one that was finished is not repeated.
    """
    resume = is_unfinished(model)
    if (model / "model.safetensors").is_file() and not resume:
        return Hasher.load(model)
    return Hasher(**{**settings, "bits": cell.bits, "seed": cell.seed}).fit(
        data.items,
        labels=known_labels(data, split),
        unlabelled=split.database,
        out=model,
        resume=resume,
        overwrite=not resume,
        progress=False,
    )
