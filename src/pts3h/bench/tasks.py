"""What a cell asks of its system."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..data.datasets.dataset import Dataset
from ..data.known_pairs import LabelPairs
from ..data.splits import Split
from ..data.training_set import TrainingSet
from ..systems.system import Task
from .plan import Cell, Setup
from .sources import known_labels


def task_of(
    setup: Setup,
    cell: Cell,
    data: Dataset,
    split: Split,
    folder: Path,
    tuned: Mapping[str, Any] | None = None,
) -> Task:
    """What a cell's system is asked to do. No query takes part, neither labelled nor unlabelled."""
    known = LabelPairs(known_labels(data, split))
    pool = np.setdiff1d(split.database, split.labelled)
    settings, shared = setup.settings_of(cell)
    return Task(
        TrainingSet(data.items, known, pool),
        cell.bits,
        cell.seed,
        settings=settings,
        shared=shared,
        tuned=tuned or {},
        folder=folder / cell.file.removesuffix(".json"),
    )
