"""The demo: a plan of the bench on real pictures, then a table, a gallery and a model to keep."""

import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..codes import Codes, hamming
from ..data.datasets.dataset import Dataset
from ..errors import UserError
from ..training.output_folder import claim_folder
from ..util.console import plain_console
from ..util.files import write_atomic, write_json, write_text
from ..util.progress import bar_or_lines, spoken
from .cells import Result, codes_file, read_results
from .gallery import Picture, Row, gallery_page, gallery_png
from .matrix import run_matrix
from .plan import Cell, Plan, Setup
from .sources import load_data, split_of

FALLBACKS = ("cifar10", "fashion-mnist", "digits")
BASE, BEST = "dsh", "pts3h-dsh"
SHOWN_AS = {BASE: "DSH", "pts3h-p": "PTS3H-P", "pts3h-q": "PTS3H-Q", BEST: "PTS3H"}
QUERIES_SHOWN, NEAREST_SHOWN = 8, 8
OUTPUTS = {"cells", "gallery.html", "gallery.png", "model", "results.json"}


def run_demo(
    out: Path, *, images: int, label_counts: Sequence[int], seeds: int, bits: int, dataset: str | None
) -> None:
    """Run everything and write it to ``out``."""
    started = time.monotonic()
    claim_folder(out, resume=False, overwrite=is_earlier_demo(out))
    cells = out / "cells"
    shutil.rmtree(cells, ignore_errors=True)
    setup, data = find_data(dataset, images)
    say(f"{data.name}: {len(data.items):,} pictures, {bits} bits, seeds 0 to {seeds - 1}")
    plan = Plan(setup, list(SHOWN_AS), [bits], label_counts, seeds)
    keeper = Cell(BEST, bits, max(label_counts), 0)
    shown = bar_or_lines()
    if failed := run_matrix(plan, cells, progress=shown, keep_codes=True, models={keeper: out / "model"}):
        raise UserError(f"{failed} of the demo's runs failed, for the reasons above")
    results = sorted(read_results(cells), key=lambda result: plan.cells().index(result["cell"]))
    header, table = summarise(results, label_counts)
    print_table(header, table)
    write_gallery(out, data, results, min(label_counts), header, table)
    write_json(out / "results.json", [as_plain(result) for result in results])
    say(f"gallery: {out / 'gallery.html'} and {out / 'gallery.png'}; model: {out / 'model'}")
    say(f"done in {spoken(time.monotonic() - started)}")


def find_data(wanted: str | None, images: int) -> tuple[Setup, Dataset]:
    """The wanted data set, or the first that can be loaded; whatever is not the first choice is said."""
    for name in FALLBACKS if wanted is None else (wanted,):
        setup = Setup(name, images=images)
        try:
            return setup, load_data(name, None, None, images)
        except UserError as error:
            if wanted is not None or name == FALLBACKS[-1]:
                raise
            say(f"{error}; trying the next data set")
    raise UserError("no data set can be loaded")


def as_plain(result: Result) -> dict[str, Any]:
    """What results.json keeps of a cell."""
    cell = result["cell"]
    return {
        "method": SHOWN_AS[cell.method],
        "bits": cell.bits,
        "labels": cell.labels,
        "seed": cell.seed,
        "map": result["map"],
        "precision_within_2": result["precision_within_2"],
    }


def summarise(results: Sequence[Result], label_counts: Sequence[int]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: mean over seeds of MAP and of precision within radius 2, for each number of labels."""
    header = ["method"]
    for count in label_counts:
        header += [f"MAP, {count} labels", "gain", "precision r<=2"]
    table = []
    for method, name in SHOWN_AS.items():
        line = [name]
        for count in label_counts:
            own, base = (mean_of(results, one, count) for one in (method, BASE))
            gain = "" if method == BASE else f"{100 * (own[0] - base[0]):+.1f}"
            line += [f"{own[0]:.3f}", gain, f"{own[1]:.3f}"]
        table.append(line)
    return header, table


def mean_of(results: Sequence[Result], method: str, labels: int) -> tuple[float, float]:
    """Mean MAP and precision over seeds."""
    chosen = [r for r in results if r["cell"].method == method and r["cell"].labels == labels]
    map_, precision = (float(np.mean([r[name] for r in chosen])) for name in ("map", "precision_within_2"))
    return map_, precision


def print_table(header: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    """The figures, on standard output."""
    shown = Table(*header)
    for column in shown.columns[1:]:
        column.justify = "right"
    for line in table:
        shown.add_row(*line, style="bold" if line[0] == SHOWN_AS[BEST] else "")
    plain_console().print(shown)


def write_gallery(
    out: Path,
    data: Dataset,
    results: Sequence[Result],
    labels: int,
    header: Sequence[str],
    table: Sequence[Sequence[str]],
) -> None:
    """Queries drawn by chance with what they find before (DSH) and after (PTS3H), seed 0."""
    found = {r["cell"].method: r for r in results if r["cell"].labels == labels and r["cell"].seed == 0}
    split, images = split_of(data, labels, 0), data.items.images
    if images is None:
        raise UserError(f"the demo shows pictures, and {data.name} has none")
    queries = np.sort(np.random.default_rng(1).choice(split.queries, QUERIES_SHOWN, replace=False))
    queries = queries[np.argsort(data.labels[queries], kind="stable")]
    codes = [np.load(codes_file(out / "cells", found[method]["cell"])) for method in (BASE, BEST)]

    def picture_of(item: int) -> Picture:
        pixels: Picture = images.load(np.array([item]), images.typical_side()).pixels[0]
        return pixels.transpose(1, 2, 0)

    def panel(query: int, codes: Codes) -> list[tuple[Picture, bool]]:
        distances = hamming(codes[query], codes[split.database])
        nearest = split.database[np.argsort(distances, kind="stable")[:NEAREST_SHOWN]]
        return [(picture_of(item), bool(data.labels[item] == data.labels[query])) for item in nearest]

    rows = [
        Row(picture_of(q), data.items.classes[data.labels[q]], [panel(q, one) for one in codes])
        for q in queries
    ]
    before, after = (found[method]["map"] for method in (BASE, BEST))
    titles = [f"DSH, {labels} labels: MAP {before:.3f}", f"PTS3H, the same labels: MAP {after:.3f}"]
    picture = gallery_png(rows, titles)
    lead = (
        f"{len(data.items):,} pictures of {data.name}, {found[BASE]['cell'].bits} bits. "
        "DSH learns from the labelled pictures alone; PTS3H also from the unlabelled ones. "
        "Mean over seeds; queries take no part in training."
    )
    write_atomic(out / "gallery.png", lambda file: file.write(picture))
    write_text(out / "gallery.html", gallery_page("PTS3H: before and after", lead, header, table, picture))


def is_earlier_demo(out: Path) -> bool:
    """Whether ``out`` holds nothing but an earlier demo, which may be replaced."""
    return out.is_dir() and {path.name for path in out.iterdir()} <= OUTPUTS


def say(text: str) -> None:
    """A line about progress."""
    print(text, file=sys.stderr, flush=True)
