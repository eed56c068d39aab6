"""Tuning: the same number of tries for every system, scored on a split that is never reported.

The split of the tries draws its held-out items, and everything else, from what is a query of no reported
seed. Held-out items are ranked among themselves, so learning labelled items by heart earns nothing.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import default_rng

from ..codes import Codes, pack
from ..data.datasets.dataset import Dataset
from ..data.held_out import HeldOutLabels
from ..data.images import Positions
from ..data.splits import Split, draw_split, few_labels
from ..errors import Diverged, UserError
from ..systems.table import SYSTEMS
from ..util.files import write_json
from ..util.sealed import sealed, unsealed
from .plan import Cell, Plan, Setup
from .provenance import provenance
from .sources import load_data, split_of
from .tasks import task_of

SEED = 1_000_000  # of the split, far from those that are reported
LEAST_LEFT = 4  # a class gives at most this part of its items to be held out
FOLDER = "tries"

Tries = dict[tuple[str, int, int], list["Scored"]]  # by system, code length, number of labels


@dataclass(frozen=True)
class Try:
    """One try.

    Attributes:
        method: name of the system.
        bits: code length.
        labels: how many items are labelled.
        number: from 0, which is the system as it is by default.
        settings: what is tried, by name.
    """

    method: str
    bits: int
    labels: int
    number: int
    settings: Mapping[str, Any]

    @property
    def file(self) -> str:
        """Name of the file that holds its score."""
        return f"{FOLDER}/{self.method}-{self.bits}bits-{self.labels}labels-try{self.number}.json"

    @property
    def cell(self) -> Cell:
        """The run that it is like."""
        return Cell(self.method, self.bits, self.labels, SEED)


@dataclass(frozen=True)
class Scored:
    """What came of a try.

    Attributes:
        settings: what was tried, by name.
        split: digest of the split that it was tried on.
        score: mean average precision of held-out items among themselves; 0 where training diverged.
        seconds: it took.
        used: all settings that came of it.
    """

    settings: dict[str, Any]
    split: str
    score: float
    seconds: float
    used: dict[str, Any]


def tries_of(plan: Plan, folder: Path) -> list[Try]:
    """All tries of a matrix. A system with nothing to tune has none."""
    setup = plan.setup
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    found = []
    for labels in plan.label_counts if setup.tune else ():
        split = tuning_split(data, labels, plan.runs)
        for method in plan.names:
            for bits in plan.tune_bits or plan.bits:
                cell = Cell(method, bits, labels, SEED)
                choices = SYSTEMS.find(method).choices(task_of(setup, cell, data, split, folder))
                drawn = draws(choices, setup.tune) if choices else []
                found += [Try(method, bits, labels, *one) for one in enumerate(drawn)]
    return found


def refuse_other_splits(plan: Plan, folder: Path) -> None:
    """Raise where settings were tried on items that are queries of the seeds that are reported now."""
    setup = plan.setup
    for (_, _, labels), tries in read_tries(folder).items() if setup.tune else ():
        if labels not in plan.label_counts:
            continue
        data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
        now = tuning_split(data, labels, plan.runs).digest()
        if any(one.split != now for one in tries):
            raise UserError(
                f"{folder} was tuned for another number of runs: keep --runs, or choose another --out"
            )


def run_try(setup: Setup, runs: int, folder: Path, one: Try) -> None:
    """Run a try and write its file."""
    torch.set_num_threads(1)
    data = load_data(setup.data_name, setup.place, setup.labels, setup.images)
    split = tuning_split(data, one.labels, runs)
    system, started = SYSTEMS.find(one.method), time.monotonic()
    task = task_of(setup, one.cell, data, split, folder, tuned=one.settings)
    try:
        encoder = system.fit(task)
    except Diverged:
        score = 0.0
    else:

        def encode(positions: Positions) -> Codes:
            return pack(encoder.outputs(data.items.subset(positions))[0])

        score = held_out(data, split).score(encode, one.bits)
    result = {
        "try": asdict(one),
        "score": score,
        "seconds": round(time.monotonic() - started, 2),
        "split": split.digest(),
        "settings": system.record(task),
        **provenance(one.method),
    }
    write_json(folder / one.file, sealed(result))


def tuning_split(data: Dataset, labels: int, runs: int) -> Split:
    """Held-out items as queries, and ``labels`` labelled ones, out of what is a query of no reported seed."""
    reported = [split_of(data, labels, seed).queries for seed in range(runs)]
    free = np.setdiff1d(np.arange(len(data.items)), np.concatenate(reported))
    rows = data.labels[free]
    smallest = int((np.bincount(rows) if rows.ndim == 1 else rows.sum(axis=0)).min())
    count = min(data.protocol.queries, smallest // LEAST_LEFT)
    if count < 2:
        raise UserError(f"a class of {smallest} items is too small to tune on: leave out --tune")
    drawn = few_labels(rows, draw_split(rows, queries=count, labelled=1, seed=SEED), labels)
    return Split(free[drawn.queries], free[drawn.database], free[drawn.labelled], SEED)


def held_out(data: Dataset, split: Split) -> HeldOutLabels:
    """What tries are scored on."""
    sides = split.queries, split.labelled
    return HeldOutLabels(sides[0], data.labels[sides[0]], sides[1], data.labels[sides[1]])


def draws(choices: Mapping[str, Sequence[Any]], count: int) -> list[dict[str, Any]]:
    """Different settings by chance, the usual ones first; fewer where there are no more.

    Each differs from the usual ones in one or two settings: of so few tries, those that change everything at
    once hardly ever beat settings that somebody has tuned by hand.
    """
    usual = {name: values[0] for name, values in choices.items()}
    near = [
        usual | dict(zip(names, values, strict=True))
        for size in (1, 2)
        for names in combinations(choices, size)
        for values in product(*(choices[name][1:] for name in names))
    ]
    order = default_rng(SEED).permutation(len(near))
    return [usual, *(near[place] for place in order[: count - 1])]


def best_try(tries: Sequence[Scored]) -> Scored:
    """The one with the highest score; the first of several."""
    return max(tries, key=lambda one: one.score)


def chosen_settings(tries: Tries, cell: Cell) -> dict[str, Any]:
    """What tuning chose for a cell, at its code length or the nearest; nothing where nothing is tuned."""
    lengths = [bits for method, bits, labels in tries if (method, labels) == (cell.method, cell.labels)]
    if not lengths:
        return {}
    nearest = min(lengths, key=lambda bits: (abs(bits - cell.bits), bits))
    return best_try(tries[cell.method, nearest, cell.labels]).settings


def read_try(path: Path) -> tuple[Try, Scored]:
    """A try and what came of it."""
    try:
        stored = unsealed(json.loads(path.read_text(encoding="utf-8")))
        one = Try(**stored["try"])
        figures = float(stored["score"]), float(stored["seconds"])
        return one, Scored(dict(one.settings), stored["split"], *figures, stored.get("settings", {}))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a try of pts3h bench ({error}): delete it") from error


def read_tries(folder: Path) -> Tries:
    """The scores in a folder, in the order of the tries."""
    found: dict[tuple[str, int, int], dict[int, Scored]] = {}
    for path in sorted((folder / FOLDER).glob("*-try*.json")):
        one, scored = read_try(path)
        found.setdefault((one.method, one.bits, one.labels), {})[one.number] = scored
    return {key: [tries[number] for number in sorted(tries)] for key, tries in found.items()}
