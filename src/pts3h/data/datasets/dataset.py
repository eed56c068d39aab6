"""A labelled data set: its items, its protocol, and which items are queries where that is fixed."""

from dataclasses import dataclass

import numpy as np

from ...errors import UserError
from ..images import Positions
from ..items import Items, Labels
from ..splits import Protocol, Split, draw_split


@dataclass(frozen=True)
class Dataset:
    """A labelled data set.

    Attributes:
        name: its name.
        items: all items, with their labels.
        protocol: how it is split.
        queries: positions of the queries, where the data set fixes them.
        labelled: positions of the labelled items, where the data set fixes them.
    """

    name: str
    items: Items
    protocol: Protocol
    queries: Positions | None = None
    labelled: Positions | None = None

    @property
    def labels(self) -> Labels:
        """Labels of all items."""
        if self.items.labels is None:
            raise UserError(f"the data set {self.name} has no labels: give its items some")
        return self.items.labels

    def split(self, seed: int) -> Split:
        """Draw queries and labelled items by the protocol, or take those that the data set fixes."""
        if self.queries is not None and self.labelled is not None:
            database = np.setdiff1d(np.arange(len(self.items)), self.queries)
            return Split(self.queries, database, self.labelled, seed)
        return draw_split(
            self.labels,
            queries=self.protocol.queries,
            labelled=self.protocol.labelled,
            seed=seed,
            fixed_queries=self.queries,
        )

    def at_most(self, count: int | None) -> "Dataset":
        """The same part of ``count`` items every time; all of them where there are no more, or for None."""
        return self if count is None or count >= len(self.items) else self.sample(count, seed=0)

    def sample(self, count: int, seed: int) -> "Dataset":
        """A random part: equally many items of each class, or any items where each has several classes.

        Queries and labelled items that the data set fixes remain so if they are drawn.
        """
        labels = self.labels
        rng = np.random.default_rng((seed, 3))
        if labels.ndim != 1 or self.queries is not None:
            return self._part(rng.permutation(len(labels))[:count])
        classes = int(labels.max()) + 1
        chosen = [
            rng.permutation(np.flatnonzero(labels == label))[: count // classes] for label in range(classes)
        ]
        return self._part(rng.permutation(np.concatenate(chosen)))

    def _part(self, positions: Positions) -> "Dataset":
        """The items at ``positions``, and which of them are queries or labelled."""
        queries, labelled = (
            None if fixed is None else np.flatnonzero(np.isin(positions, fixed))
            for fixed in (self.queries, self.labelled)
        )
        return Dataset(self.name, self.items.subset(positions), self.protocol, queries, labelled)
