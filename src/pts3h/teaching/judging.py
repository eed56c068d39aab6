"""How well codes tell alike from not alike, on answers that were kept back: fair for every model."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import unpack
from ..data.images import Positions
from .kept_back import kept_back
from .knowledge import Triples, about, known_pairs
from .standing import Standing

LEAST = 4  # pairs of either kind, and items kept back, that can judge: as many as 40 answers bring
MOST_KEPT, MOST_OTHERS = 100, 200  # items that judge, and that they are held against

Rows = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Figures:
    """How a model does on the answers that were kept back.

    Attributes:
        auc: how often an alike pair is nearer than another, the area under the ROC; a tie counts half.
        error: its standard error. Pairs share items, so it is found by leaving out each item in turn.
        pairs: how many pairs judged.
        items: how many items kept back they involve.
        without: the same area without each of these items.
    """

    auc: float
    error: float
    pairs: int
    items: int
    without: tuple[float, ...]

    def to_json(self) -> dict[str, float | int]:
        """As a page reads it."""
        return {
            "auc": round(self.auc, 4),
            "error": round(self.error, 4),
            "pairs": self.pairs,
            "items": self.items,
        }


def judge(standing: Standing, rows: Rows, *, transitive: bool = True) -> Figures | None:
    """How well the rows tell alike from not alike; None while too little is kept back.

    Args:
        standing: ``answers.standing()``; the same one for models that are compared.
        rows: packed codes or vectors by id. Items that have none do not judge.
        transitive: as in training.
    """
    known = pairs_to_judge_by(standing, rows, transitive=transitive)
    items = sorted({item for a, b, _ in known for item in (a, b)}, key=lambda item: not kept_back(item))
    kept = sum(map(kept_back, items))  # these come first
    place = {item: at for at, item in enumerate(items)}
    pairs = np.array([(place[a], place[b]) for a, b, _ in known], np.int64).reshape(-1, 2)
    similar = np.array([alike for _, _, alike in known], bool)
    if min(similar.sum(), (~similar).sum(), kept) < LEAST:
        return None
    near = closeness(np.stack([rows[item] for item in items]), pairs)
    others = [(pairs != one).all(axis=1) for one in range(kept)]
    without = tuple(area(near[left], similar[left]) for left in others)
    return Figures(area(near, similar), spread(np.array(without)), len(pairs), kept, without)


def gain(before: Figures, after: Figures) -> tuple[float, float]:
    """How much better the second model does on the same answers, and the standard error of that."""
    return after.auc - before.auc, spread(np.array(after.without) - np.array(before.without))


def pairs_to_judge_by(standing: Standing, rows: Rows, *, transitive: bool) -> Triples:
    """Known pairs of an item that is kept back and any other, of a bounded number of items."""
    items = {*standing.places, *(item for pair in standing.pairs for item in pair)} & rows.keys()
    order = sorted(items, key=lambda item: sha256(b"judge" + item.encode(errors="surrogatepass")).digest())
    kept = [item for item in order if kept_back(item)][:MOST_KEPT]
    chosen = {*kept, *[item for item in order if not kept_back(item)][:MOST_OTHERS]}
    pairs = known_pairs(about(standing, chosen.__contains__), transitive=transitive)
    return [pair for pair in pairs if kept_back(pair[0]) or kept_back(pair[1])]


def closeness(rows: NDArray[Any], pairs: Positions) -> NDArray[np.float64]:
    """(m,) the more, the nearer: cosines of vectors, or of the signs of packed codes."""
    values = unpack(rows, 8 * rows.shape[1]) if rows.dtype == np.uint8 else rows
    values = values.astype(np.float64)
    values /= np.linalg.norm(values, axis=1, keepdims=True).clip(min=1e-12)
    near = np.einsum("ij,ij->i", values[pairs[:, 0]], values[pairs[:, 1]])
    return np.asarray(near.round(9))  # equal codes are equally near


def area(near: NDArray[np.float64], similar: NDArray[np.bool_]) -> float:
    """The area under the ROC; a half where there is nothing to compare."""
    alike, other = near[similar], np.sort(near[~similar])
    if not len(alike) or not len(other):
        return 0.5
    below, not_above = (np.searchsorted(other, alike, side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * len(other)))


def spread(without: NDArray[np.float64]) -> float:
    """The standard error by the jackknife: from the figure without each of its parts in turn."""
    count = len(without)
    return float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))
