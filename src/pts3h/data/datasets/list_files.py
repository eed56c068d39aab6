"""Data sets in the field's list files, beside images that the user has."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ..images import ImageFiles
from ..items import Items, from_list_file
from ..splits import Protocol
from .dataset import Dataset


def list_dataset(name: str, folder: Path | None, protocol: Protocol) -> Dataset:
    """A data set of list files: ``database.txt``, ``test.txt``, ``train.txt``; or one ``all.txt`` to split.

    Lines are ``<path> <0/1> <0/1> ...``; paths are relative to the folder. Labelled items (train) are part of
    the database.
    """
    if folder is None:
        raise UserError(
            f"{name} cannot be downloaded freely: say which folder holds its list files and images"
        )
    if (folder / "all.txt").is_file():
        items = from_list_file(folder / "all.txt", folder)
        return Dataset(name, with_flags(items, folder / "all.txt"), protocol)
    lists = {}
    for part in ("database", "test", "train"):
        path = folder / f"{part}.txt"
        if not path.is_file():
            raise UserError(
                f"{folder} needs database.txt, test.txt and train.txt, or one all.txt: {path.name} is missing"
            )
        lists[part] = with_flags(from_list_file(path, folder), path)
    return join_lists(name, protocol, **lists)


def with_flags(items: Items, path: Path) -> Items:
    """The items, refused if their list has no flags."""
    if items.labels is None:
        raise UserError(f"{path} has paths but no 0/1 flags: add one per class")
    return items


def join_lists(name: str, protocol: Protocol, *, database: Items, test: Items, train: Items) -> Dataset:
    """One collection out of three lists; an item in several lists is one item."""
    rows: dict[str, tuple[Path, NDArray[np.int64]]] = {}
    widths = {items.labels.shape[1] for items in (database, train, test) if items.labels is not None}
    if len(widths) > 1:
        raise UserError(
            f"{name}: its lists differ in their number of flags ({sorted(widths)}): give one per class"
        )
    for items in (database, train, test):
        assert isinstance(items.content, ImageFiles) and items.labels is not None
        for item, path, flags in zip(items.ids, items.content.paths, items.labels, strict=True):
            rows.setdefault(item, (path, flags))
    position = {item: place for place, item in enumerate(rows)}
    queries = np.unique([position[item] for item in test.ids])
    labelled = np.unique([position[item] for item in train.ids])
    if len(np.intersect1d(queries, labelled)) or set(test.ids) & set(database.ids):
        raise UserError(
            f"{name}: a query is also in the database or among the labelled items, which would flatter MAP"
        )
    content = ImageFiles([path for path, _ in rows.values()])
    items = Items(content, list(rows), np.stack([flags for _, flags in rows.values()]))
    return Dataset(name, items, protocol, queries=queries, labelled=labelled)
