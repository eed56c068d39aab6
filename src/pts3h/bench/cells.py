"""One cell of the matrix: fit a system on a split, encode everything, measure, write one file."""

import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ..codes import pack
from ..errors import UserError
from ..evaluation import Report, evaluate
from ..model.folder import save_model
from ..systems.table import SYSTEMS
from ..util.files import write_array, write_json
from ..util.sealed import sealed, unsealed
from .plan import Cell, Setup
from .provenance import provenance
from .sources import load_data, split_of
from .tasks import task_of
from .tuning import chosen_settings, read_tries

RANKS = (1, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
COURSE = 100  # points kept of thr's way through training

Result = dict[str, Any]


def run_cell(
    setup: Setup,
    cell: Cell,
    folder: Path,
    threads: int = 1,
    *,
    keep_codes: bool = False,
    model_folder: Path | None = None,
) -> None:
    """Run a cell and write its file.

    Args:
        setup: what all cells share.
        cell: the run.
        folder: for its file.
        threads: for networks that are trained whole; others gain nothing from several.
        keep_codes: also write the codes of all items, beside the file.
        model_folder: also write the model, and the split with it.
    """
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    split = split_of(data, cell.labels, cell.seed)
    started = time.monotonic()
    system, tuned = SYSTEMS.find(cell.method), chosen_settings(read_tries(folder), cell)
    task = task_of(setup, cell, data, split, folder, tuned)
    used = system.used(task)
    torch.set_num_threads(threads if used is not None and used.fine_tunes else 1)
    encoder = system.fit(task)
    outputs, broken = encoder.outputs(data.items)
    if broken:
        reason = broken[min(broken)]
        raise UserError(f"{len(broken)} pictures of {data.name} cannot be read; the first: {reason}")
    codes = pack(outputs)
    labels = data.labels[split.queries], data.labels[split.database]
    report = evaluate(codes[split.queries], codes[split.database], labels=labels, bits=cell.bits)
    result = {
        "cell": asdict(cell),
        **figures(report, data.protocol.map_at),
        "seconds": round(time.monotonic() - started, 2),
        "split": split.digest(),
        "settings": system.record(task),
        "tuned": tuned,
        **provenance(cell.method),
        "course": course(encoder.history),
    }
    if keep_codes:
        write_array(codes_file(folder, cell), codes)
    if model_folder is not None and encoder.model is not None:
        save_model(encoder.model, model_folder, overwrite=True)
        split.save(model_folder / "split.json")
    write_json(folder / cell.file, sealed(result))


def codes_file(folder: Path, cell: Cell) -> Path:
    """Where the codes of all items lie, if they were kept."""
    return folder / cell.file.replace(".json", ".codes.npy")


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
    return [read_result(path) for path in sorted(folder.glob("*-seed*.json"))]


def read_result(path: Path) -> Result:
    """A finished cell."""
    try:
        result = unsealed(json.loads(path.read_text(encoding="utf-8")))
        cell = result["cell"]
        varied = None if cell["varied"] is None else tuple(cell["varied"])
        return {**result, "cell": Cell(**{**cell, "varied": varied})}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a cell of pts3h bench ({error}): delete it") from error
