"""The data of a benchmark: a named set or one's own vectors, whole or a part, and its splits."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from ..data.datasets.dataset import Dataset
from ..data.datasets.table import load_dataset
from ..data.items import Items, Labels, from_array, load_array
from ..data.known_pairs import check_labels
from ..data.splits import Protocol, Split, draw_split, few_labels
from ..errors import UserError


@lru_cache(maxsize=1)
def load_data(name: str, place: str | None, labels: str | None, images: int | None) -> Dataset:
    """The data set of a benchmark; see :class:`~pts3h.bench.plan.Setup`."""
    folder = None if place is None else Path(place)
    if name.endswith(".npy"):
        return own_vectors(Path(name), labels).at_most(images)
    if labels is not None:
        raise UserError(f"{name} has its own labels: --labels goes with an .npy of vectors")
    return load_dataset(name, folder, images)


def own_vectors(path: Path, labels_file: str | None) -> Dataset:
    """Vectors and labels in two ``.npy`` files; a tenth of each class are queries."""
    if not path.is_file():
        raise UserError(f"there is no {path}")
    if labels_file is None:
        raise UserError(f"say which .npy holds the labels of {path}: --labels labels.npy")
    items, labels = from_array(load_array(path)), check_labels(load_array(Path(labels_file)))
    if len(labels) != len(items) or labels.min() < 0:
        raise UserError(f"{labels_file} must hold a label for each of the {len(items)} vectors")
    sizes = np.bincount(labels) if labels.ndim == 1 else labels.sum(axis=0)
    queries = max(int(sizes.min()) // 10, 1)
    return Dataset(path.stem, Items(items.content, items.ids, labels), Protocol(queries, queries))


def default_labels(data: Dataset) -> int:
    """How many labelled items the protocol has."""
    if data.labelled is not None:
        return len(data.labelled)
    return data.protocol.labelled * count_classes(data)


def count_classes(data: Dataset) -> int:
    """How many classes there are."""
    return int(data.labels.max()) + 1 if data.labels.ndim == 1 else data.labels.shape[1]


def split_of(data: Dataset, labels: int, seed: int) -> Split:
    """Queries by the protocol and ``labels`` labelled items; the same for every method and code length."""
    if data.labelled is None:
        drawn = draw_split(
            data.labels, queries=data.protocol.queries, labelled=1, seed=seed, fixed_queries=data.queries
        )
        return few_labels(data.labels, drawn, labels)
    fixed = data.split(seed)
    if labels == len(fixed.labelled):
        return fixed
    chosen = few_labels(data.labels, Split(fixed.queries, fixed.labelled, fixed.labelled, seed), labels)
    return Split(fixed.queries, fixed.database, chosen.labelled, seed)


def known_labels(data: Dataset, split: Split) -> Labels:
    """Labels of the labelled items, -1 for all others: what a system may see."""
    known = np.full_like(data.labels, -1)
    known[split.labelled] = data.labels[split.labelled]
    return known
