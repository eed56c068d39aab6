"""Which question is worth a person's time: an item to place among groups, or a pair near the threshold.

One question in ten is about an item that is kept back to judge by, drawn by chance.
"""

import threading
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from ..data.images import Positions
from ..errors import UserError
from .answers import Answers
from .coverage import Coverage
from .doubt import doubts
from .draw import draw, judges_next
from .helping import helping
from .kept_back import kept_back
from .knowledge import about
from .question import Helping, NearGroup, PairQuestion, Placing
from .ridge import undecided
from .standing import Standing, ordered

MOST_GROUPS = 9  # one for each key
NEAREST, MOST_EXAMPLES = 3, 6
EVERY = 5  # answers, after which it is asked again whether more help
FAR = 0.3  # a group that is less similar than this is not near
Floats = NDArray[np.floating]

LIKELY = 0.8  # share of pairs that are too different to judge by


class Questions:
    """Chooses what to ask next. Many threads may ask at once.

    Args:
        answers: what was said so far; what people say from now on counts too.
        ids: of the items.
        similarities: (n, d) a vector per item, whose cosines say how alike two items are: a model's real
            outputs, or :func:`pts3h.teaching.similarities.along_graph`.
        seed: of what is drawn by chance.
    """

    def __init__(
        self, answers: Answers, ids: Sequence[str], similarities: NDArray[Any], *, seed: int = 0
    ) -> None:
        if len(ids) != len(similarities):
            raise UserError(
                f"there are {len(ids)} ids for {len(similarities)} vectors: give one vector per id"
            )
        self._answers, self._ids, self._vectors = answers, ids, similarities
        self._position = {item: place for place, item in enumerate(ids)}
        self._lock = threading.Lock()
        self._rng = default_rng(seed)
        self._helping: tuple[int, Helping] | None = None  # and how many answers it is about
        self._draw_again(set(answers.standing().places))

    # asking

    def next_placing(self, *, skip: Collection[str] = ()) -> Placing | None:
        """The next item to place; None when every item was placed, skipped or marked unsure.

        Args:
            skip: items that are not to be asked about now, such as those on another screen.
        """
        standing = self._answers.standing()
        done = {*standing.places, *skip}
        with self._lock:
            item = self._choose(standing, done)
            if item is None and any(name not in done for name in self._ids):
                self._draw_again(done)
                item = self._choose(standing, done)
        if item is None:
            return None
        groups = self._near_groups(item, standing)
        if kept_back(item):
            return Placing(item, groups, "it is kept back to judge by, not to learn from")
        known = bool(groups) and groups[0].similarity > FAR
        return Placing(
            item, groups, "it stands for many items like it" if known else "nothing like it has a group yet"
        )

    def next_pair(self, *, skip: Collection[str] = ()) -> PairQuestion | None:
        """The pair that is hardest to tell, of items that were asked about least; None if none is left.

        Args:
            skip: items that are not to be asked about now.
        """
        standing = self._answers.standing()
        kept = sum(kept_back(a) or kept_back(b) for a, b in standing.pairs)
        with self._lock:
            kinds = [self._by_doubt(standing), self._judging_pairs]
        if judges_next(kept, len(standing.pairs)):
            kinds.reverse()
        for first, second in chain(*kinds):
            a, b = self._ids[first], self._ids[second]
            said = ordered(a, b) in standing.pairs or {a, b} <= standing.places.keys()
            if not said and a not in skip and b not in skip:
                (similarity,) = self._similarities(np.array([[first, second]]))
                return PairQuestion(a, b, float(similarity), "it is hard to tell whether these two are alike")
        return None

    def helping(self) -> Helping:
        """Whether more answers still help."""
        standing = about(self._answers.standing(), self._position.__contains__)
        if self._helping is None or abs(standing.answers - self._helping[0]) >= EVERY:
            self._helping = standing.answers, helping(standing, self._rows_of)
        return self._helping[1]

    # items

    def _draw_again(self, done: Collection[str]) -> None:
        """Other items to choose from, none of which has an answer."""
        self._drawn = draw(self._ids, lambda name: name not in done, self._rng)
        self._coverage = Coverage(self._unit(self._drawn.taught))
        self._taught: set[str] = set()  # items that are covered
        self._likeness = self._similarities(self._drawn.pairs)
        judging = self._similarities(self._drawn.judging_pairs)
        # most of the others are not alike, and easy to tell
        likely = judging >= np.quantile(judging, LIKELY) if len(judging) else np.empty(0, bool)
        self._judging_pairs = self._drawn.judging_pairs[likely]

    def _choose(self, standing: Standing, done: Collection[str]) -> str | None:
        """An item of those drawn that has no answer."""
        names: list[str] = [self._ids[at] for at in self._drawn.taught]
        judges: list[str] = [self._ids[at] for at in self._drawn.judges]
        free = np.array([at for at, name in enumerate(names) if name not in done], np.int64)
        judge = next((name for name in judges if name not in done), None)
        kept = sum(map(kept_back, standing.places))
        if judge is not None and (not len(free) or judges_next(kept, len(standing.places))):
            return judge
        if not len(free):
            return None
        self._catch_up(standing)
        return names[self._coverage.best(free, self._weights(standing))]

    def _catch_up(self, standing: Standing) -> None:
        """Cover what was answered. What is kept back teaches nothing."""
        taught = {item for item in standing.places if item in self._position and not kept_back(item)}
        if not self._taught <= taught:  # something was undone
            self._coverage.begin()
            self._taught = set()
        self._coverage.cover(self._rows_of(sorted(taught - self._taught)))
        self._taught = taught

    def _weights(self, standing: Standing) -> Floats:
        """How much each drawn item counts: the less, the clearer its group is."""
        places = {item: standing.places[item].group for item in self._taught}
        known = [item for item, group in places.items() if group is not None]
        groups = np.array([places[item] for item in known], np.int64)
        return np.square(undecided(self._rows_of(known), groups, self._coverage.rows))

    def _near_groups(self, item: str, standing: Standing) -> list[NearGroup]:
        (row,) = self._rows_of([item])
        found = []
        for group in standing.groups():
            items = [one for one in group.items if one in self._position]
            if items:
                rows = self._rows_of(items)
                near, typical = rows @ row, rows @ rows.mean(axis=0)
                nearest = np.argsort(-near, kind="stable")[:NEAREST]
                shown = dict.fromkeys([*nearest.tolist(), *np.argsort(-typical, kind="stable").tolist()])
                examples = [items[at] for at in [*shown][:MOST_EXAMPLES]]
                found.append(NearGroup(group.number, group.name, examples, float(near.mean())))
        return sorted(found, key=lambda one: -one.similarity)[:MOST_GROUPS]

    # pairs

    def _by_doubt(self, standing: Standing) -> Positions:
        """Pairs of which fewest items were asked about, the hardest to tell first."""
        pairs = self._drawn.pairs
        told = [
            (self._position[a], self._position[b], said.similar)
            for (a, b), said in standing.pairs.items()
            if said.similar is not None and a in self._position and b in self._position
        ]
        known = np.array(told, np.int64).reshape(-1, 3)
        doubt = doubts(self._likeness, self._similarities(known[:, :2]), known[:, 2] == 1)
        asked = [self._position[item] for pair in standing.pairs for item in pair if item in self._position]
        return pairs[np.lexsort((doubt, np.isin(pairs, asked).sum(axis=1)))]

    def _similarities(self, pairs: Positions) -> Floats:
        """(m,) cosines."""
        items, places = np.unique(pairs, return_inverse=True)
        rows, places = self._unit(items), places.reshape(-1, 2)
        return np.asarray(np.einsum("ij,ij->i", rows[places[:, 0]], rows[places[:, 1]]))

    # vectors

    def _unit(self, positions: Positions) -> Floats:
        rows = np.asarray(self._vectors[positions], np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(min=1e-12))

    def _rows_of(self, items: Sequence[str]) -> Floats:
        """(k, d) unit vectors of items that there are."""
        return self._unit(np.array([self._position[item] for item in items], np.int64))
