"""The demo: PTS3H against its supervised baseline on real pictures; a table, a gallery, a model to keep."""

import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codes import Codes, hamming
from ..data.datasets.dataset import Dataset
from ..data.datasets.table import load_dataset
from ..data.splits import Split, draw_split, few_labels
from ..errors import UserError
from ..evaluation import evaluate
from ..training.output_folder import claim_folder
from ..util import progress
from ..util.cores import usable_cores
from ..util.files import write_atomic, write_json, write_text
from .gallery import Row, gallery_png, page

if TYPE_CHECKING:
    from ..hasher import Hasher

FALLBACKS = ("cifar10", "fashion-mnist", "digits")
METHODS: dict[str, dict[str, Any]] = {
    "DSH": {"omega": 0.0},
    "PTS3H-P": {"gamma": 0.0},
    "PTS3H-Q": {"consistency": False},
    "PTS3H": {},
}
QUERIES_SHOWN, NEAREST_SHOWN = 8, 8


@dataclass(frozen=True)
class Cell:
    """One run of the demo."""

    dataset: str
    images: int
    bits: int
    method: str
    labels: int
    seed: int


@dataclass(frozen=True)
class Result:
    """What a run gave: figures, and the codes of all pictures."""

    cell: Cell
    map: float
    precision: float
    codes: Codes


def run_demo(
    out: Path, *, images: int, label_counts: Sequence[int], seeds: int, bits: int, dataset: str | None
) -> None:
    """Run everything and write it to ``out``."""
    started = time.monotonic()
    claim_folder(out, resume=False, overwrite=is_earlier_demo(out))
    name, data = find_dataset(dataset, images)
    say(f"{name}: {len(data.items):,} pictures, {bits} bits, seeds 0 to {seeds - 1}")
    compute_features(data, bits)
    cells = [
        Cell(name, images, bits, method, count, seed)
        for count in label_counts
        for seed in range(seeds)
        for method in METHODS
    ]
    best = max(label_counts)
    keeper = Cell(name, images, bits, "PTS3H", best, 0)
    results = run_cells(cells, keep={keeper: out / "model"})
    header, table = summarise(results, label_counts)
    print_table(header, table)
    write_gallery(out, data, results, min(label_counts), header, table)
    write_json(
        out / "results.json",
        [{**vars(r.cell), "map": r.map, "precision_within_2": r.precision} for r in results],
    )
    say(f"gallery: {out / 'gallery.html'} and {out / 'gallery.png'}; model: {out / 'model'}")
    say(f"done in {time.monotonic() - started:.0f} s")


def find_dataset(wanted: str | None, images: int) -> tuple[str, Dataset]:
    """The wanted data set, or the first that can be had; whatever is not the first choice is said."""
    for name in FALLBACKS if wanted is None else (wanted,):
        try:
            return name, sampled(name, images)
        except UserError as error:
            if wanted is not None or name == FALLBACKS[-1]:
                raise
            say(f"{error}; trying the next data set")
    raise UserError("no data set can be had")


@lru_cache(maxsize=1)
def sampled(name: str, images: int) -> Dataset:
    """The pictures of the demo."""
    return load_dataset(name).sample(images, seed=0)


def compute_features(data: Dataset, bits: int) -> None:
    """Fill the feature cache once, on all cores, before the runs share it."""
    from ..settings import Config
    from ..training.preparation import compute_features as compute
    from ..training.preparation import load_backbone

    pictures = data.items.images
    assert pictures is not None
    config = Config(bits=bits).resolved(images=True, side=pictures.typical_side())
    compute(pictures, load_backbone(config), config, show=None)


def run_cells(cells: list[Cell], keep: dict[Cell, Path]) -> list[Result]:
    """Run the cells, one core each: on matrices this small two cores gain little, two runs gain all."""
    workers = min(usable_cores(), len(cells), 8)
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        progress.bar("runs", len(cells), unit="runs") as advance,
    ):
        results = []
        for result in pool.map(run_cell, cells, map(keep.get, cells)):
            results.append(result)
            advance(1)
    return results


def run_cell(cell: Cell, folder: Path | None) -> Result:
    """Train and measure one cell; keep its model, with the split, where a folder is named."""
    import torch

    torch.set_num_threads(1)
    data, split = sampled(cell.dataset, cell.images), split_of(cell)
    hasher = fit_cell(cell, data, split)
    if folder is not None:
        hasher.save(folder, overwrite=True)
        split.save(folder / "split.json")
    codes = hasher.encode(data.items, progress=False)
    labels = data.labels[split.queries], data.labels[split.database]
    report = evaluate(codes[split.queries], codes[split.database], labels=labels, bits=cell.bits)
    return Result(cell, report.map, report.precision_within(2), codes)


def split_of(cell: Cell) -> Split:
    """Queries and labelled pictures of a cell; the same for every method."""
    data = sampled(cell.dataset, cell.images)
    drawn = draw_split(data.labels, queries=data.protocol.queries, labelled=1, seed=cell.seed)
    return few_labels(data.labels, drawn, cell.labels)


def fit_cell(cell: Cell, data: Dataset, split: Split) -> "Hasher":
    """A hasher trained on a cell. The queries take no part, neither labelled nor unlabelled."""
    from ..hasher import Hasher

    hidden = np.full(len(data.labels), -1)
    hidden[split.labelled] = data.labels[split.labelled]
    hasher = Hasher(bits=cell.bits, seed=cell.seed, **METHODS[cell.method])
    # the feature cache is shared by all seeds: only splits, batches and weights differ
    return hasher.fit(data.items, labels=hidden, unlabelled=split.database, progress=False)


def summarise(results: list[Result], label_counts: Sequence[int]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: mean over seeds of MAP and of precision within radius 2, for each number of labels."""
    header = ["method"]
    for count in label_counts:
        header += [f"MAP, {count} labels", "gain", "precision r<=2"]
    table = []
    for method in METHODS:
        line = [method]
        for count in label_counts:
            own, base = (mean_of(results, name, count) for name in (method, "DSH"))
            gain = "" if method == "DSH" else f"{100 * (own[0] - base[0]):+.1f}"
            line += [f"{own[0]:.3f}", gain, f"{own[1]:.3f}"]
        table.append(line)
    return header, table


def mean_of(results: list[Result], method: str, labels: int) -> tuple[float, float]:
    """Mean MAP and precision over seeds."""
    chosen = [r for r in results if r.cell.method == method and r.cell.labels == labels]
    return float(np.mean([r.map for r in chosen])), float(np.mean([r.precision for r in chosen]))


def print_table(header: list[str], table: list[list[str]]) -> None:
    """The figures, on standard output."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(*header)
    for column in shown.columns[1:]:
        column.justify = "right"
    for line in table:
        shown.add_row(*line, style="bold" if line[0] == "PTS3H" else "")
    Console().print(shown)


def write_gallery(
    out: Path, data: Dataset, results: list[Result], labels: int, header: list[str], table: list[list[str]]
) -> None:
    """Queries drawn by chance with what they find before (DSH) and after (PTS3H), seed 0."""
    found = {r.cell.method: r for r in results if r.cell.labels == labels and r.cell.seed == 0}
    before, after = found["DSH"], found["PTS3H"]
    split = split_of(before.cell)
    queries = np.sort(np.random.default_rng(1).choice(split.queries, QUERIES_SHOWN, replace=False))
    queries = queries[np.argsort(data.labels[queries], kind="stable")]
    pictures = getattr(data.items.content, "pixels", None)
    assert pictures is not None

    def panel(query: int, codes: Codes) -> list[tuple[Any, bool]]:
        distances = hamming(codes[query], codes[split.database])
        nearest = split.database[np.argsort(distances, kind="stable")[:NEAREST_SHOWN]]
        return [(pictures[item], bool(data.labels[item] == data.labels[query])) for item in nearest]

    rows = [
        Row(pictures[q], data.items.classes[data.labels[q]], [panel(q, before.codes), panel(q, after.codes)])
        for q in queries
    ]
    titles = [f"DSH, {labels} labels: MAP {before.map:.3f}", f"PTS3H, the same labels: MAP {after.map:.3f}"]
    picture = gallery_png(rows, titles)
    lead = (
        f"{len(data.items):,} pictures of {data.name}, {before.cell.bits} bits. "
        f"DSH learns from the labelled pictures "
        "alone; PTS3H also from the unlabelled ones. Mean over seeds; queries take no part in training."
    )
    write_atomic(out / "gallery.png", lambda file: file.write(picture))
    write_text(out / "gallery.html", page("PTS3H: before and after", lead, header, table, picture))


def is_earlier_demo(out: Path) -> bool:
    """Whether ``out`` holds nothing but an earlier demo, which may be replaced."""
    return out.is_dir() and {path.name for path in out.iterdir()} <= {
        "gallery.html",
        "gallery.png",
        "model",
        "results.json",
    }


def say(text: str) -> None:
    """A line about progress."""
    print(text, file=sys.stderr, flush=True)
