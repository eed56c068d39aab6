"""What is known of which pair. Labels and pair lists answer the same questions, without an n x n matrix."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import UserError
from .images import Positions
from .items import Items, Labels, encode_classes, read_rows

Mask = NDArray[np.bool_]


class KnownPairs(Protocol):
    """Knowledge of pairs among n items.

    Attributes:
        labelled: positions of the items that occur in a known pair, ascending.
        similar_share: rho, the share of similar pairs among the known ones.
    """

    labelled: Positions
    similar_share: float

    def block(self, positions: Positions) -> tuple[Mask, Mask]:
        """What is known among ``positions``: (known, similar), both (m, m), symmetric, the diagonal false."""
        ...

    def hide(self, positions: Positions) -> "KnownPairs":
        """The same knowledge without the pairs that touch ``positions``."""
        ...


class LabelPairs:
    """Pairs of labelled items: similar where they share a class.

    Args:
        labels: (n,) class numbers with -1 unknown, or (n, classes) of 0/1 with rows of -1 unknown.
    """

    def __init__(self, labels: ArrayLike) -> None:
        self.labels = check_labels(labels)
        known = self.labels >= 0 if self.labels.ndim == 1 else (self.labels >= 0).all(axis=1)
        self.labelled: Positions = np.flatnonzero(known)
        if len(self.labelled) < 2:
            raise UserError("fewer than two items have a label: give labels (-1 where unknown) or pairs")
        self.similar_share = self._similar_share()
        if self.similar_share in (0.0, 1.0):
            kind = "dissimilar" if self.similar_share == 0 else "similar"
            raise UserError(
                f"all labelled items are {kind}: learning needs pairs that are alike and pairs that are not"
            )

    def block(self, positions: Positions) -> tuple[Mask, Mask]:
        """Known and similar among ``positions``."""
        rows = self.labels[positions]
        if rows.ndim == 1:
            has_label, similar = rows >= 0, rows[:, None] == rows[None, :]
        else:
            flags = np.maximum(rows, 0).astype(np.float32)
            has_label, similar = rows.min(axis=1) >= 0, np.asarray(flags @ flags.T > 0)
        known = has_label[:, None] & has_label[None, :]
        np.fill_diagonal(known, False)
        return known, similar & known

    def hide(self, positions: Positions) -> "LabelPairs":
        """The same labels, unknown at ``positions``."""
        labels = self.labels.copy()
        labels[positions] = -1
        return LabelPairs(labels)

    def _similar_share(self) -> float:
        count = len(self.labelled)
        if self.labels.ndim == 1:
            sizes = np.bincount(self.labels[self.labelled])
            similar = int((sizes * (sizes - 1)).sum())
        else:  # in strips, so that memory stays linear
            flags = self.labels[self.labelled].astype(np.float32)
            similar = sum(int((flags[at : at + 1024] @ flags.T > 0).sum()) for at in range(0, count, 1024))
            similar -= int((flags.sum(axis=1) > 0).sum())
        return similar / (count * (count - 1))


class PairList:
    """Pairs named one by one.

    Args:
        count: number of items n.
        pairs: (m, 3) of position, position, 1 if similar or 0 if not.
        rows: what to call each pair in a message; its number by default.
    """

    def __init__(self, count: int, pairs: ArrayLike, *, rows: Sequence[str] | None = None) -> None:
        try:
            pairs = np.asarray(pairs)
            whole = pairs.dtype.kind in "iub" or bool((pairs.astype(float) % 1 == 0).all())
        except ValueError as error:
            raise UserError(f"pairs must be rows of position, position, 1 or 0 ({error})") from error
        if pairs.ndim != 2 or pairs.shape[1] != 3 or not len(pairs):
            raise UserError(
                f"pairs must be rows of a, b, similar (at least one), got an array of shape {pairs.shape}"
            )
        if not whole:
            raise UserError("pairs must be whole numbers: position, position, 1 or 0")
        pairs = pairs.astype(np.int64)
        self.count = count
        self._check(pairs, rows or [f"pair {number}" for number in range(len(pairs))])
        first, second = pairs[:, :2].min(axis=1), pairs[:, :2].max(axis=1)
        keys, places = np.unique(first * count + second, return_index=True)
        self._keys, self.similar = keys, pairs[places, 2] == 1
        self.pairs = np.stack([keys // count, keys % count], axis=1)
        self.labelled: Positions = np.unique(self.pairs)
        self.similar_share = float(self.similar.mean())
        if self.similar_share in (0.0, 1.0):
            kind, other = ("dissimilar", "alike") if self.similar_share == 0 else ("similar", "not alike")
            raise UserError(f"all {len(keys)} pairs are {kind}: learning needs some that are {other} too")

    def block(self, positions: Positions) -> tuple[Mask, Mask]:
        """Known and similar among ``positions``."""
        a, b = positions[:, None], positions[None, :]
        keys = np.minimum(a, b) * self.count + np.maximum(a, b)
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        known = self._keys[places] == keys
        return known, known & self.similar[places]

    def hide(self, positions: Positions) -> "PairList":
        """Without the pairs that touch ``positions``."""
        return self.keep(np.asarray(~np.isin(self.pairs, positions).any(axis=1)))

    def keep(self, chosen: Mask) -> "PairList":
        """Only the pairs where ``chosen``."""
        return PairList(self.count, np.column_stack([self.pairs[chosen], self.similar[chosen]]))

    def _check(self, pairs: NDArray[np.int64], rows: Sequence[str]) -> None:
        """Refuse what cannot be meant, naming the row."""
        ends, similar = pairs[:, :2], pairs[:, 2]
        for bad, why in (
            (
                (ends < 0).any(axis=1) | (ends >= self.count).any(axis=1),
                f"names an item outside 0 to {self.count - 1}",
            ),
            (ends[:, 0] == ends[:, 1], "pairs an item with itself"),
            ((similar != 0) & (similar != 1), "has a similarity that is neither 1 nor 0"),
        ):
            if bad.any():
                raise UserError(f"{rows[int(np.argmax(bad))]} {why}")
        keys = ends.min(axis=1) * self.count + ends.max(axis=1)
        order = np.argsort(keys, kind="stable")
        clash = (np.diff(keys[order]) == 0) & (np.diff(similar[order]) != 0)
        if clash.any():
            at = int(np.argmax(clash))
            raise UserError(
                f"{rows[order[at + 1]]} contradicts {rows[order[at]]}: the same two items, alike and not"
            )


def check_labels(labels: ArrayLike) -> Labels:
    """Labels as integers, (n,) or (n, classes), refused where they are something else."""
    labels = np.asarray(labels)
    if labels.ndim not in (1, 2) or labels.dtype.kind not in "iub":
        raise UserError(
            "labels are whole numbers, (n,) or one 0/1 row an item, -1 where unknown; "
            f"got {labels.dtype} {labels.shape}"
        )
    labels = labels.astype(np.int64)
    if labels.min(initial=0) < -1 or (labels.ndim == 2 and labels.max(initial=0) > 1):
        raise UserError("labels must be 0 or more (0/1 in rows of flags), and -1 where unknown")
    if labels.ndim == 2 and ((labels == -1).any(axis=1) != (labels == -1).all(axis=1)).any():
        raise UserError("a row of flags is either all 0/1 or all -1 (unknown)")
    return labels


def read_pairs(source: Any, items: Items) -> PairList:
    """Pairs from a CSV (``a,b,similar``, by id, path or position) or an array (m, 3) of positions."""
    if isinstance(source, PairList):
        return source
    if not isinstance(source, (str, Path)):
        return PairList(len(items), source)
    path = Path(source)
    if not path.is_file():
        raise UserError(f"there is no pairs file {path}")
    if path.suffix.lower() == ".npy":
        from .items import load_array

        return PairList(len(items), load_array(path))
    numbered = [(f"{path} row {number}", row) for number, row in enumerate(read_rows(path), start=1)]
    if numbered and numbered[0][1][-1].strip().lower() in ("similar", "alike", "label", "s"):
        numbered = numbered[1:]
    if not numbered:
        raise UserError(f"{path} holds no pairs: write rows of a,b,similar with similar 1 or 0")
    find = Finder(items, path.parent)
    pairs = [(find(row, 0, name), find(row, 1, name), similarity(row, name)) for name, row in numbered]
    return PairList(len(items), pairs, rows=[name for name, _ in numbered])


class Finder:
    """Positions of items by id, or by path for pictures in files."""

    def __init__(self, items: Items, folder: Path) -> None:
        self.position = {name: position for position, name in enumerate(items.ids)}
        self.folder = folder
        self.paths: Sequence[Path] = getattr(items.content, "paths", [])

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
        if not path.is_file():
            raise UserError(
                f"there is no labels file {path} (or say 'folder' to take each picture's folder name)"
            )
        if path.suffix.lower() == ".npy":
            from .items import load_array

            source = load_array(path)
        else:
            return labels_from_csv(path, items)
    labels = check_labels(source)
    if len(labels) != len(items):
        raise UserError(
            f"there are {len(labels)} labels for {len(items)} items: give one an item, -1 where unknown"
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
