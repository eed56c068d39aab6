"""What the first pairs are worth: MAP by number of known pairs, beside codes that need none.

python benchmarks/first_pairs.py cifar10 --images 6000
python benchmarks/first_pairs.py photos/ --bits 64        (a folder with a folder per class)

Pairs are scattered: two items by chance, of which ``--alike`` are alike. No query takes part in anything. ITQ
and PCA with a random rotation see the same frozen features, and no pair.
"""

import argparse
import json
import shlex
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.random import default_rng
from numpy.typing import NDArray

from pts3h import evaluate, pack
from pts3h.bench.sources import load_data
from pts3h.bench.summary import deviation
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.items import Labels, read_items
from pts3h.data.known_pairs import PairList
from pts3h.data.pair_files import read_labels
from pts3h.data.splits import Protocol
from pts3h.data.training_set import TrainingSet, unlabelled_pool
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from pts3h.util.files import write_json

COUNTS = (0, 20, 40, 80, 150, 280, 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", help="a data set by name, or a folder with a folder of pictures per class")
    parser.add_argument("--images", type=int, help="how many of them; all by default")
    parser.add_argument("--bits", type=int, default=48)
    parser.add_argument("--pairs", type=int, nargs="+", default=COUNTS)
    parser.add_argument(
        "--alike", type=float, nargs="+", default=[0.5], help="share of the pairs that is alike"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--set", nargs="*", default=[], help="settings, as omega=0.3")
    parser.add_argument("--out", type=Path, help="also write the figures as JSON")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    data = load(asked.data, asked.images)
    settings = {name: json.loads(value) for name, value in (entry.split("=") for entry in asked.set)}
    rows = []
    for pairs, alike in [(count, share) for count in asked.pairs for share in asked.alike]:
        rows.append(measure(data, "pts3h-graph", asked.bits, asked.seeds, pairs, alike, settings))
    if not settings:
        rows += [measure(data, name, asked.bits, asked.seeds, 0, 0, {}) for name in ("itq", "pca")]
    if asked.out is not None:
        write_json(asked.out, {"command": command_of(asked), "rows": rows})


def command_of(asked: argparse.Namespace) -> str:
    """What was typed, as another user would type it: wherever the pictures are, and without the file."""
    named = {asked.data: f"photos/{Path(asked.data).name}/"} if Path(asked.data).is_dir() else {}
    words = [named.get(word, word) for word in sys.argv[1:]]
    at = next(place for place, word in enumerate(words) if word.startswith("--out"))
    del words[at : at + 1 + ("=" not in words[at])]
    return shlex.join(["python", "benchmarks/first_pairs.py", *words])


def load(name: str, images: int | None) -> Dataset:
    """A data set, or a folder of class folders; a tenth of each class are queries."""
    if not Path(name).is_dir():
        data = load_data(name, None, None, images)
        return replace(data, protocol=replace(data.protocol, labelled=1))  # labels are not asked for
    items = read_items(name)
    labels = read_labels("folder", items)
    smallest = int(np.bincount(labels).min())
    items = type(items)(items.content, items.ids, labels, items.classes)
    return Dataset(Path(name).name, items, Protocol(max(smallest // 10, 1), 1)).at_most(images)


def measure(
    data: Dataset, system: str, bits: int, seeds: int, count: int, alike: float, settings: dict[str, float]
) -> dict[str, object]:
    """Mean average precision and distinct codes over seeds; printed, and returned for a file."""
    found, distinct, shares = [], [], []
    for seed in range(seeds):
        split = data.split(seed)
        known = scattered_pairs(data.labels, split.database, count, alike, seed)
        taking_part = unlabelled_pool(len(data.items), known, split.database)
        task = Task(TrainingSet(data.items, known, taking_part), bits, seed, settings=settings)
        encoder = SYSTEMS.find(system).fit(task)
        codes = pack(encoder.outputs(data.items)[0])
        labels = data.labels[split.queries], data.labels[split.database]
        found.append(evaluate(codes[split.queries], codes[split.database], labels=labels, bits=bits).map)
        distinct.append(len(np.unique(codes[split.database], axis=0)))
        if encoder.model is not None:
            shares.append(encoder.model.used.similar_share)
    row: dict[str, object] = {"data": data.name, "items": len(data.items), "system": system, "bits": bits}
    row |= {"pairs": count, "alike": alike, "seeds": seeds, "settings": settings}
    row |= {"map": [round(value, 4) for value in found], "distinct": distinct}
    row["shares"] = [round(share, 3) for share in shares]
    what = f"{count:5d} pairs, {alike:.0%} alike" if system == "pts3h-graph" else f"{system}, no pairs"
    spread = deviation(np.array(found))
    figure = f"MAP {np.mean(found):.3f} ± {spread:.3f}   {np.mean(distinct):6.0f} distinct codes"
    print(f"{data.name}  {what:24s} {figure}   {json.dumps(row['map'])} {row['shares']}", flush=True)
    return row


def scattered_pairs(
    labels: Labels, members: NDArray[np.int64], count: int, alike: float, seed: int
) -> PairList:
    """Pairs of members by chance, of which the share ``alike`` shares a class."""
    rng = default_rng((seed, count, 17))
    wanted = {True: round(alike * count), False: count - round(alike * count)}
    pairs: dict[tuple[int, int], bool] = {}
    while any(wanted.values()):
        first, second = sorted(int(item) for item in rng.choice(members, 2, replace=False))
        similar = (
            bool(np.any(labels[first] == labels[second]))
            if labels.ndim == 1
            else bool((labels[first] & labels[second]).any())
        )
        if wanted[similar] and (first, second) not in pairs:
            pairs[first, second] = similar
            wanted[similar] -= 1
    rows = [(first, second, similar) for (first, second), similar in pairs.items()]
    return PairList(len(labels), np.array(rows, np.int64).reshape(-1, 3))


if __name__ == "__main__":
    main()
