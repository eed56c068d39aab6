"""Many classes with few labels each: what systems make of a folder of class folders.

python benchmarks/many_classes.py photos/ --labels 10 --queries 8

Of each class some pictures are queries, some of the others have their label known, and all the others are the
database. Classes that are too small are left out.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from pts3h import evaluate, pack
from pts3h.bench.summary import deviation
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.pair_files import read_labels
from pts3h.data.splits import Protocol
from pts3h.data.training_set import TrainingSet, unlabelled_pool
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder with a folder of pictures per class")
    parser.add_argument("--labels", type=int, default=10, help="known of each class")
    parser.add_argument("--queries", type=int, default=8, help="of each class")
    parser.add_argument("--most", type=int, default=31, help="pictures of each class")
    parser.add_argument("--systems", nargs="+", default=["itq", "dsh", "pts3h-dsh", "pts3h-graph"])
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    data = load(asked.folder, asked.labels, asked.queries, asked.most)
    classes = len(np.unique(data.labels))
    print(f"{len(data.items):,} pictures of {classes} classes, {asked.labels} labels each, {asked.bits} bits")
    for system in asked.systems:
        found = [measure(data, system, asked.bits, seed) for seed in range(asked.seeds)]
        print(f"{system:<12} MAP {np.mean(found):.3f} ± {deviation(np.array(found)):.3f}", flush=True)


def load(folder: Path, labels: int, queries: int, most: int) -> Dataset:
    """At most so many pictures of each class that is large enough to be split."""
    items = read_items(folder)
    classes = read_labels("folder", items)
    places = [np.flatnonzero(classes == one)[:most] for one in np.unique(classes)]
    kept = np.sort(np.concatenate([some for some in places if len(some) > labels + queries]))
    numbers = np.unique(classes[kept], return_inverse=True)[1].astype(np.int64)
    return Dataset(folder.name, replace(items.subset(kept), labels=numbers), Protocol(queries, labels))


def measure(data: Dataset, system: str, bits: int, seed: int) -> float:
    """Mean average precision of one split."""
    split = data.split(seed)
    labels = np.full_like(data.labels, -1)
    labels[split.labelled] = data.labels[split.labelled]
    known = LabelPairs(labels)
    training = TrainingSet(data.items, known, unlabelled_pool(len(data.items), known, split.database))
    codes = pack(SYSTEMS.find(system).fit(Task(training, bits, seed)).outputs(data.items)[0])
    classes = data.labels[split.queries], data.labels[split.database]
    return evaluate(codes[split.queries], codes[split.database], labels=classes, bits=bits).map


if __name__ == "__main__":
    main()
