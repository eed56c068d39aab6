"""Pairs and labels as users keep them: CSV and ``.npy`` files, arrays, class folders."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..util.files import is_file
from .implied_pairs import with_implied
from .items import Items, Labels, encode_classes, load_array, read_rows
from .known_pairs import KnownPairs, LabelPairs, PairList, check_labels


def read_supervision(items: Items, pairs: Any, labels: Any, *, transitive: bool = False) -> KnownPairs:
    """What is known of pairs: from pairs, from labels, or from labels that came with the items; else nothing.

    Args:
        items: what the pairs are of.
        pairs: a file or an array; see :func:`read_pairs`.
        labels: a file, an array or "folder"; see :func:`read_labels`.
        transitive: also take what follows from the pairs.
    """
    if pairs is not None and labels is not None:
        raise UserError("give pairs or labels, not both")
    if transitive and pairs is None:
        raise UserError("transitive adds what follows from pairs, and there are none: leave it out")
    if pairs is not None:
        given = read_pairs(pairs, items)
        return with_implied(given, items.ids) if transitive else given
    if labels is not None:
        return LabelPairs(read_labels(labels, items))
    if items.labels is not None:
        return LabelPairs(items.labels)
    return PairList(len(items), np.empty((0, 3), np.int64))


def read_pairs(source: Any, items: Items) -> PairList:
    """Pairs from a CSV (``a,b,similar``, by id, path or position) or an array (m, 3) of positions."""
    if isinstance(source, PairList):
        return source
    if not isinstance(source, (str, Path)):
        return some(PairList(len(items), source))
    path = Path(source)
    if not is_file(path):
        raise UserError(f"there is no pairs file {path}")
    if path.suffix.lower() == ".npy":
        return some(PairList(len(items), load_array(path)))
    numbered = [(f"{path} row {number}", row) for number, row in enumerate(read_rows(path), start=1)]
    if numbered and numbered[0][1][-1].strip().lower() in ("similar", "alike", "label", "s"):
        numbered = numbered[1:]
    if not numbered:
        raise UserError(f"{path} holds no pairs: write rows of a,b,similar with similar 1 or 0")
    find = Finder(items, path.parent)
    pairs = [(find(row, 0, name), find(row, 1, name), similarity(row, name)) for name, row in numbered]
    return PairList(len(items), pairs, rows=[name for name, _ in numbered])


def some(pairs: PairList) -> PairList:
    """The pairs, refused where there is none: whoever gives pairs means to."""
    if not pairs.units:
        raise UserError("there are no pairs: give at least one, or leave pairs out to learn from neighbours")
    return pairs


class Finder:
    """Positions of items by id, or by path for pictures in files."""

    def __init__(self, items: Items, folder: Path) -> None:
        self.position = {name: position for position, name in enumerate(items.ids)}
        self.folder = folder
        self.paths: Sequence[Path] = items.paths or []

    def __call__(self, row: Sequence[str], column: int, name: str) -> int:
        """The position that ``row[column]`` names."""
        if len(row) != 3:
            raise UserError(f"{name} has {len(row)} columns, expected a,b,similar")
        text = row[column].strip()
        if text in self.position:
            return self.position[text]
        for candidate in (Path(text), self.folder / text) if "\0" not in text else ():
            if (found := self.position_of_path.get(candidate.resolve())) is not None:
                return found
        raise UserError(f"{name} names {text!r}, which is not among the {len(self.position)} items")

    @cached_property
    def position_of_path(self) -> dict[Path, int]:
        """Made only where an id is not enough: it asks the disk about every file."""
        return {path.resolve(): position for position, path in enumerate(self.paths)}


def similarity(row: Sequence[str], name: str) -> int:
    """1 or 0 from the last column."""
    values = {"1": 1, "0": 0, "true": 1, "false": 0, "yes": 1, "no": 0}
    text = row[2].strip().lower()
    if text not in values:
        raise UserError(f"{name} has similarity {row[2].strip()!r}, expected 1 (alike) or 0 (not alike)")
    return values[text]


def read_labels(source: Any, items: Items) -> Labels:
    """Labels from an array, an ``.npy``, a CSV of ``id,label``, or "folder": each picture's folder name."""
    if isinstance(source, (str, Path)):
        if str(source) == "folder":
            return folder_labels(items)[0]
        path = Path(source)
        if not is_file(path):
            raise UserError(
                f"there is no labels file {path} (or say 'folder' to take each picture's folder name)"
            )
        if path.suffix.lower() == ".npy":
            source = load_array(path)
        else:
            return labels_from_csv(path, items)
    labels = check_labels(source)
    if len(labels) != len(items):
        raise UserError(
            f"there are {len(labels)} labels for {len(items)} items: give one per item, -1 where unknown"
        )
    return labels


def folder_labels(items: Items) -> tuple[Labels, tuple[str, ...]]:
    """The name of the folder each picture lies in, as its class."""
    names = [Path(name).parent.as_posix() for name in items.ids]
    labels, classes = encode_classes(["" if name == "." else name for name in names])
    if len(classes) < 2:
        raise UserError(
            "the pictures do not lie in two or more class folders, so folders say nothing of classes"
        )
    return labels, classes


def labels_from_csv(path: Path, items: Items) -> Labels:
    """Rows ``id,label``; items that are not named stay unknown."""
    rows = [(f"{path} row {number}", row) for number, row in enumerate(read_rows(path), start=1)]
    if rows and rows[0][1][-1].strip().lower() in ("label", "class"):
        rows = rows[1:]
    find = Finder(items, path.parent)
    names = [""] * len(items)
    for name, row in rows:
        if len(row) != 2:
            raise UserError(f"{name} has {len(row)} columns, expected id,label")
        position, label = find([*row, ""], 0, name), row[1].strip()
        if names[position] not in ("", label):
            raise UserError(f"{name} says {label!r}, an earlier row {names[position]!r} of the same item")
        names[position] = label
    return encode_classes(names)[0]
