"""One cell of the matrix: fit a method on a split, code everything, measure, write one file."""

import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..codes import Codes
from ..data.datasets.dataset import Dataset
from ..data.images import Positions
from ..data.inputs import VectorInputs
from ..data.known_pairs import LabelPairs
from ..data.splits import Split
from ..errors import UserError
from ..evaluation import Report, evaluate
from ..settings import Config
from ..systems.system import Problem
from ..systems.table import METHODS, make_method
from ..training.preparation import compute_features, load_backbone, vector_views
from ..util.files import write_json
from .plan import Cell, Setup
from .sources import known_labels, load_data, split_of
from .whole import fine_tuned_codes

RANKS = (1, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
COURSE = 100  # points kept of thr's way through training

Result = dict[str, Any]


def run_cell(setup: Setup, cell: Cell, folder: Path, threads: int = 1) -> None:
    """Run a cell and write its file; only networks that are trained whole gain from several threads."""
    import torch

    data = load_data(setup.dataset, setup.place, setup.classes, setup.images)
    settings = setup.settings_of(cell)
    config = resolved(data, cell, settings)
    split = split_of(data, cell.labels, cell.seed)
    started = time.monotonic()
    whole = data.items.images is not None and not config.freeze
    torch.set_num_threads(threads if whole else 1)
    if whole:
        queries, database, history = fine_tuned_codes(data, split, cell, settings, folder)
    else:
        queries, database, history = frozen_codes(data, split, cell, settings)
    labels = data.labels[split.queries], data.labels[split.database]
    report = evaluate(queries, database, labels=labels, bits=cell.bits)
    result = {
        "cell": asdict(cell),
        **figures(report, data.protocol.map_at),
        "seconds": round(time.monotonic() - started, 2),
        "split": split.digest(),
        "course": course(history),
    }
    write_json(folder / cell.file, result)


def frozen_codes(
    data: Dataset, split: Split, cell: Cell, settings: dict[str, Any]
) -> tuple[Codes, Codes, list[dict[str, float]]]:
    """Fit on vectors or frozen features; codes of the queries and of the database, and the history."""
    inputs = build_inputs(data, resolved(data, cell, settings), members=split.database)
    known = LabelPairs(known_labels(data, split))
    problem = Problem(inputs, known, np.setdiff1d(split.database, split.labelled))
    method = make_method(cell.method, settings)
    encoder = method.fit(problem, bits=cell.bits, seed=cell.seed, show=False)
    queries, database = (encoder.codes(inputs, positions) for positions in (split.queries, split.database))
    return queries, database, encoder.history


def resolved(data: Dataset, cell: Cell, settings: dict[str, Any]) -> Config:
    """Settings with every default filled in for this data set; shallow systems always see frozen features."""
    images = data.items.images
    side = images.typical_side() if images else 0
    if METHODS[cell.method].module == "shallow":
        settings = {**settings, "freeze": True, "code_size": None, "mirror": False}
    config = Config.from_keywords({"bits": cell.bits, **settings})
    return config.resolved(images=images is not None, side=side, count=len(data.items))


def build_inputs(
    data: Dataset, config: Config, *, members: Positions | None = None, show: bool | None = False
) -> VectorInputs:
    """The vectors of a data set, or the cached features of its pictures and of perturbed copies.

    Args:
        data: the data set.
        config: resolved settings.
        members: who takes part in training, whose mean and spread count.
        show: whether to draw a progress bar.
    """
    images = data.items.images
    if images is None:
        return VectorInputs(np.asarray(data.items.content), vector_views(config), members)
    features = compute_features(images, load_backbone(config), config, show)
    if features.broken:
        reason = features.broken[min(features.broken)]
        raise UserError(f"{len(features.broken)} pictures of {data.name} cannot be read; the first: {reason}")
    return VectorInputs(features.array, vector_views(config), members)


def figures(report: Report, map_at: int | None) -> Result:
    """Everything that tables and curves need; MAP over as many ranks as the protocol says."""
    ranks = [rank for rank in RANKS if rank <= report.items[0].sum()]
    recall, precision = report.pr_curve()
    return {
        "map": report.map if map_at is None else report.map_at(map_at),
        "map_at": map_at,
        "precision_within_2": report.precision_within(2),
        "ranks": ranks,
        "precision_at": rounded(report.precision_at(ranks)),
        "recall": rounded(recall),
        "precision": rounded(precision),
    }


def course(history: list[dict[str, float]]) -> list[list[float]]:
    """Step and thr, for some steps of the training; empty for methods without thr."""
    marked = [[record["step"], record["threshold"]] for record in history if "threshold" in record]
    return [[step, round(thr, 5)] for step, thr in marked[:: max(len(marked) // COURSE, 1)]]


def rounded(values: Iterable[float]) -> list[float]:
    """Short enough to read, exact enough to plot."""
    return [round(float(value), 6) for value in values]


def read_results(folder: Path) -> list[Result]:
    """All finished cells of a folder."""
    results = []
    for path in sorted(folder.glob("*-seed*.json")):
        try:
            result = json.loads(path.read_text())
            cell = result["cell"]
            varied = None if cell["varied"] is None else tuple(cell["varied"])
            result["cell"] = Cell(**{**cell, "varied": varied})
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not a cell of pts3h bench ({error}): delete it") from error
        results.append(result)
    return results
