"""What is known of which pair. Labels and pair lists answer the same questions, without an n x n matrix."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from ..errors import UserError
from .arrays import as_array
from .held_out import SAMPLE, HeldOut, HeldOutLabels, HeldOutPairs
from .images import Positions
from .items import Labels

Mask = NDArray[np.bool_]


class KnownPairs(ABC):
    """Knowledge of pairs among n items.

    Batches draw from it in units: a unit is a labelled item, or a pair named by the user.

    Attributes:
        labelled: positions of the items that occur in a known pair, ascending.
        similar_share: rho, the share of similar pairs among the known ones.
        labels: (n,) or (n, classes), -1 where unknown; None where only pairs are known.
        units: how many units there are.
        items_per_unit: 1, or 2 for pairs.
    """

    labelled: Positions
    similar_share: float
    labels: Labels | None
    units: int
    items_per_unit: int

    @property
    def both_kinds(self) -> bool:
        """Whether some pairs are alike and some are not."""
        return 0 < self.similar_share < 1

    @abstractmethod
    def items_of(self, units: Positions) -> Positions:
        """Positions of the items of some units, each once."""

    @abstractmethod
    def block(self, positions: Positions) -> tuple[Mask, Mask]:
        """What is known among ``positions``: (known, similar), both (m, m), symmetric, the diagonal false."""

    @abstractmethod
    def sample_pairs(self, count: int, rng: Generator) -> tuple[Positions, Mask]:
        """At most ``count`` known pairs (m, 2) by chance, and which of them are alike."""

    @abstractmethod
    def hide(self, positions: Positions) -> Self:
        """The same knowledge without the pairs that touch ``positions``."""

    @abstractmethod
    def hold_out(self, share: float, rng: Generator) -> tuple[Self, HeldOut]:
        """A part to learn from, and the rest to measure on."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """What there is to say of it on a model's card."""


class LabelPairs(KnownPairs):
    """Pairs of labelled items: similar where they share a class.

    Args:
        labels: (n,) class numbers with -1 unknown, or (n, classes) of 0/1 with rows of -1 unknown.
    """

    items_per_unit = 1

    def __init__(self, labels: ArrayLike) -> None:
        self.labels: Labels = check_labels(labels)
        known = self.labels >= 0 if self.labels.ndim == 1 else (self.labels >= 0).all(axis=1)
        self.labelled = np.flatnonzero(known)
        self.units = len(self.labelled)
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

    def items_of(self, units: Positions) -> Positions:
        """The labelled items themselves."""
        return self.labelled[units]

    def sample_pairs(self, count: int, rng: Generator) -> tuple[Positions, Mask]:
        """As many alike as not, by chance, among at most a thousand labelled items."""
        chosen = rng.permutation(self.labelled)[:SAMPLE]
        known, similar = (np.triu(mask) for mask in self.block(chosen))
        pairs = []
        for kind in (similar, known & ~similar):
            found = np.argwhere(kind)
            pairs.append(found[rng.permutation(len(found))[: count // 2]])
        alike = np.arange(len(pairs[0]) + len(pairs[1])) < len(pairs[0])
        return chosen[np.concatenate(pairs)], alike

    def hide(self, positions: Positions) -> "LabelPairs":
        """The same labels, unknown at ``positions``."""
        labels = self.labels.copy()
        labels[positions] = -1
        return LabelPairs(labels)

    def hold_out(self, share: float, rng: Generator) -> tuple["LabelPairs", HeldOutLabels]:
        """Hide the labels of some items, which should find the other labelled ones."""
        order = rng.permutation(self.labelled)
        queries = np.sort(order[: max(round(share * len(order)), 1)])
        database = np.setdiff1d(order, queries)
        held = HeldOutLabels(queries, self.labels[queries], database, self.labels[database])
        return self.hide(queries), held

    def summary(self) -> dict[str, Any]:
        """How many items are labelled."""
        return {"labelled_items": self.units, "similar_share": round(self.similar_share, 4)}

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


class PairList(KnownPairs):
    """Pairs named one by one; an empty list where nothing is known.

    Args:
        count: number of items n.
        pairs: (m, 3) of position, position, 1 if similar or 0 if not.
        rows: what to call each pair in a message; its number by default.
    """

    labels = None
    items_per_unit = 2

    def __init__(self, count: int, pairs: ArrayLike, *, rows: Sequence[str] | None = None) -> None:
        try:
            pairs = as_array(pairs)
            whole = pairs.dtype.kind in "iub" or bool((pairs.astype(float) % 1 == 0).all())
        except ValueError as error:
            raise UserError(f"pairs must be rows of position, position, 1 or 0 ({error})") from error
        if pairs.ndim != 2 or pairs.shape[1] != 3:
            raise UserError(f"pairs must be rows of a, b, similar, got an array of shape {pairs.shape}")
        if not whole:
            raise UserError("pairs must be whole numbers: position, position, 1 or 0")
        pairs = pairs.astype(np.int64)
        self.count = count
        self._check(pairs, rows or [f"pair {number}" for number in range(len(pairs))])
        first, second = pairs[:, :2].min(axis=1), pairs[:, :2].max(axis=1)
        keys, places = np.unique(first * count + second, return_index=True)
        self._keys, self.similar = keys, pairs[places, 2] == 1
        self.pairs = np.stack([keys // count, keys % count], axis=1)
        self.labelled = np.unique(self.pairs)
        self.units = len(self.pairs)
        self.similar_share = float(self.similar.mean()) if len(keys) else 0.0

    def block(self, positions: Positions) -> tuple[Mask, Mask]:
        """Known and similar among ``positions``."""
        a, b = positions[:, None], positions[None, :]
        keys = np.minimum(a, b) * self.count + np.maximum(a, b)
        if not self.units:
            return np.zeros_like(keys, bool), np.zeros_like(keys, bool)
        places = np.searchsorted(self._keys, keys).clip(max=self.units - 1)
        known = self._keys[places] == keys
        return known, known & self.similar[places]

    def items_of(self, units: Positions) -> Positions:
        """Both ends of some pairs."""
        return np.unique(self.pairs[units])

    def sample_pairs(self, count: int, rng: Generator) -> tuple[Positions, Mask]:
        """The pairs themselves, or some of them by chance."""
        chosen = rng.permutation(len(self.pairs))[:count]
        return self.pairs[chosen], self.similar[chosen]

    def hold_out(self, share: float, rng: Generator) -> tuple["PairList", HeldOutPairs]:
        """Keep some pairs of both kinds back, whose distances should tell them apart."""
        if not self.both_kinds:
            raise UserError("holding pairs out needs some that are alike and some that are not")
        held = np.zeros(len(self.pairs), bool)
        for kind in (True, False):  # both kinds must be on both sides
            members = rng.permutation(np.flatnonzero(self.similar == kind))
            held[members[: max(round(share * len(members)), 1)]] = True
        return self.keep(~held), HeldOutPairs(self.pairs[held], self.similar[held])

    def summary(self) -> dict[str, Any]:
        """How many pairs there are, and how many items they touch."""
        return {
            "labelled_items": len(self.labelled),
            "known_pairs": self.units,
            "similar_share": round(self.similar_share, 4),
        }

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
    labels = as_array(labels)
    if labels.ndim not in (1, 2) or labels.dtype.kind not in "iub":
        raise UserError(
            "labels are whole numbers, (n,) or one 0/1 row per item, -1 where unknown; "
            f"got {labels.dtype} {labels.shape}"
        )
    labels = labels.astype(np.int64)
    if labels.min(initial=0) < -1 or (labels.ndim == 2 and labels.max(initial=0) > 1):
        raise UserError("labels must be 0 or more (0/1 in rows of flags), and -1 where unknown")
    if labels.ndim == 2 and ((labels == -1).any(axis=1) != (labels == -1).all(axis=1)).any():
        raise UserError("a row of flags is either all 0/1 or all -1 (unknown)")
    return labels
