"""What a hasher is given to learn from the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .agreement import Agreement
from .knowledge import about, known_pairs, to_learn_from
from .standing import Standing

MANY = 100  # items in groups, from which on labels teach more than all their pairs: see docs/decisions.md


@dataclass(frozen=True)
class Lesson:
    """What to give to ``Hasher.fit(items, **lesson.arguments)``, in the order of its items.

    Attributes:
        arguments: an array of pairs or of labels; nothing where nothing was said.
        items: how many items it speaks of.
        pairs: how many pairs it says are alike or not.
    """

    arguments: dict[str, Any]
    items: int
    pairs: int


def lesson(standing: Standing, ids: Sequence[str], *, transitive: bool = True) -> Lesson:
    """What there is to learn. What is kept back is left out, and so are answers about items that are gone.

    All pairs that follow from the answers teach. Many items in groups teach more as labels, which say what a
    kind looks like. Labels leave out what single pairs say beyond the groups, so there must not be more of
    those than of items.

    Args:
        standing: ``answers.standing()``.
        ids: of the items to train on, in their order.
        transitive: whether alike of alike is alike. Without, groups still say that their items are alike.
    """
    position = {item: place for place, item in enumerate(ids)}
    said = about(to_learn_from(standing), position.__contains__)
    labels = np.full(len(ids), -1, np.int64)
    for item, group in groups_of(said, transitive=transitive).items():
        labels[position[item]] = group
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    count = int(sizes.sum())
    if count >= max(MANY, left_out(said, labels, position)) and len(sizes) > 1 and sizes.max() > 1:
        return Lesson({"labels": labels}, count, count * (count - 1) // 2)
    pairs = known_pairs(said, transitive=transitive)
    if not pairs:
        return Lesson({}, 0, 0)
    rows = np.array([(position[a], position[b], similar) for a, b, similar in pairs], np.int64)
    return Lesson({"pairs": rows}, len(np.unique(rows[:, :2])), len(rows))


def left_out(standing: Standing, labels: NDArray[np.int64], position: Mapping[str, int]) -> int:
    """How many single pairs say something that labels do not say."""
    lost = 0
    for (a, b), said in standing.pairs.items():
        one, other = labels[position[a]], labels[position[b]]
        if said.similar is not None:
            lost += bool(min(one, other) < 0 or (one == other) != said.similar)
    return lost


def groups_of(standing: Standing, *, transitive: bool) -> dict[str, int]:
    """The group of each item that has one; if ``transitive``, also of those that are like such an item."""
    if not transitive:
        return {item: place.group for item, place in standing.places.items() if place.group is not None}
    kinds = Agreement(standing).kinds.values()
    return {item: kind.group for kind in kinds if kind.group is not None for item in kind.items}
