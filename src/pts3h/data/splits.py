"""Who is a query, who is labelled, who is the database: drawn by seed, stored with the model."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng

from ..errors import UserError
from ..util.files import write_json
from ..util.sealed import sealed, unsealed
from .images import Positions
from .items import Labels


@dataclass(frozen=True)
class Protocol:
    """How a data set is split, in numbers per class.

    Attributes:
        queries: queries per class.
        labelled: labelled database items per class.
        map_at: how many ranks MAP looks at; None for all.
    """

    queries: int
    labelled: int
    map_at: int | None = None


@dataclass(frozen=True)
class Split:
    """Positions into a data set. Labelled items are part of the database; queries never are.

    Attributes:
        queries: ascending positions.
        database: ascending positions.
        labelled: ascending positions, all in the database.
        seed: that drew them.
    """

    queries: Positions
    database: Positions
    labelled: Positions
    seed: int

    def hide_labels(self, labels: Labels) -> Labels:
        """The database's labels, -1 where an item is not labelled."""
        hidden = labels.copy()
        unknown = np.ones(len(labels), bool)
        unknown[self.labelled] = False
        hidden[unknown] = -1
        return hidden[self.database]

    def save(self, path: Path) -> None:
        """Store as JSON: small enough to read, exact enough to repeat a run."""
        plain = {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in asdict(self).items()
        }
        write_json(path, sealed(plain))

    @classmethod
    def load(cls, path: Path) -> "Split":
        """Read what :meth:`save` stored."""
        try:
            stored = unsealed(json.loads(path.read_text(encoding="utf-8")))
            queries, database, labelled = (
                np.array(stored[name], np.int64) for name in ("queries", "database", "labelled")
            )
            return cls(queries, database, labelled, int(stored["seed"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not a split saved by pts3h ({error})") from error

    def digest(self) -> str:
        """A short name: two runs compare only where it is the same."""
        joined = b"".join(part.tobytes() for part in (self.queries, self.database, self.labelled))
        return hashlib.sha256(joined).hexdigest()[:12]


def draw_split(
    labels: Labels, *, queries: int, labelled: int, seed: int, fixed_queries: Positions | None = None
) -> Split:
    """Draw queries and labelled items, equally many per class.

    A multi-label item can be drawn for any of its classes, but only once.

    Args:
        labels: (n,) class numbers, or (n, classes) of 0/1.
        queries: per class; ignored with ``fixed_queries``.
        labelled: per class.
        seed: of the draw.
        fixed_queries: positions that are the queries, where the data set says so.
    """
    rng = default_rng(seed)
    free = np.ones(len(labels), bool)
    query_positions = (
        draw(labels, free, queries, "queries", rng) if fixed_queries is None else np.sort(fixed_queries)
    )
    free[query_positions] = False
    database = np.flatnonzero(free)
    return Split(query_positions, database, draw(labels, free, labelled, "labelled items", rng), seed)


def draw(labels: Labels, free: np.ndarray, count: int, what: str, rng: Generator) -> Positions:
    """``count`` random items of each class out of the ``free`` ones, ascending."""
    free = free.copy()
    classes = range(int(labels.max()) + 1) if labels.ndim == 1 else range(labels.shape[1])
    drawn = []
    for label in classes:
        members = np.flatnonzero(free & (labels == label if labels.ndim == 1 else labels[:, label] == 1))
        if len(members) < count:
            raise UserError(
                f"class {label} has only {len(members)} items left, {count} {what} were asked for"
            )
        chosen = rng.permutation(members)[:count]
        free[chosen] = False
        drawn.append(chosen)
    return np.sort(np.concatenate(drawn))


def few_labels(labels: Labels, split: Split, count: int) -> Split:
    """The same queries and database with only ``count`` labelled items, spread evenly over the classes.

    Smaller counts are part of larger ones, so a label-efficiency curve compares like with like.
    """
    rng = default_rng((split.seed, 7))
    order = rng.permutation(split.database)
    rows = labels[order]
    classes = int(labels.max()) + 1 if labels.ndim == 1 else labels.shape[1]
    queues = [list(order[rows == c] if rows.ndim == 1 else order[rows[:, c] == 1]) for c in range(classes)]
    chosen: dict[int, None] = {}
    turn = 0
    while len(chosen) < count:
        if not any(queues):
            raise UserError(f"only {len(chosen)} items have a class, {count} labelled ones were asked for")
        queue = queues[turn % classes]
        turn += 1
        while queue:
            item = int(queue.pop(0))
            if item not in chosen:
                chosen[item] = None
                break
    return Split(split.queries, split.database, np.sort(np.array(list(chosen), np.int64)), split.seed)
