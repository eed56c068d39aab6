"""Which items a page looks at, and their codes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..codes import Codes, Layout
from ..data.images import Positions
from ..data.items import Items
from ..data.known_pairs import KnownPairs
from ..errors import UserError
from ..util.progress import Progress

if TYPE_CHECKING:  # torch is imported by whoever has a model
    from ..model.model import Model

MOST_ITEMS = 5000  # that a fine-tuned network encodes for a page: features are not there to be reused
MOST_UNITS = 1000  # labelled items or known pairs


@dataclass(frozen=True)
class Coded:
    """Items with their codes.

    Attributes:
        items: the whole collection.
        positions: (n,) of the items that have a code, ascending.
        codes: (n, bytes) packed, one row per position.
        layout: what the bits of the codes are.
        chance: rows of the items that were drawn by chance; all rows where everything was encoded.
        pairs: rows of the items of known pairs; of a part of them where there are many.
        skipped: reason by id, for pictures that cannot be read.
    """

    items: Items
    positions: Positions
    codes: Codes
    layout: Layout
    chance: Positions
    pairs: Positions
    skipped: dict[str, str]

    @property
    def is_sample(self) -> bool:
        """Whether a part of the collection stands for all of it."""
        return len(self.positions) + len(self.skipped) < len(self.items)

    @property
    def noun(self) -> str:
        """What the items are, in one word."""
        return "vectors" if self.items.images is None else "pictures"

    def groups(self) -> NDArray[np.int64]:
        """Sizes of the groups of equal codes, among those that were drawn by chance."""
        return np.unique(self.codes[self.chance], axis=0, return_counts=True)[1]


def encode_for_page(
    model: "Model", items: Items, known: KnownPairs | None, rng: Generator, *, progress: Progress = None
) -> Coded:
    """Codes of all items; where a fine-tuned network would take long, of a sample and of known pairs.

    Args:
        model: encodes them.
        items: the collection.
        known: what is known of which pair.
        rng: draws the sample.
        progress: whether to show a bar.
    """
    in_pairs = np.empty(0, np.int64) if known is None else draw_known(known, rng)
    chance = chosen = np.arange(len(items))
    if model.used.fine_tunes and len(items) > MOST_ITEMS:
        chance = np.sort(rng.choice(len(items), MOST_ITEMS, replace=False))
        chosen = np.union1d(chance, in_pairs)
    encoded = model.encode(items if len(chosen) == len(items) else items.subset(chosen), progress=progress)
    positions = chosen[encoded.kept]
    by_chance, of_pairs = (np.flatnonzero(np.isin(positions, part)) for part in (chance, in_pairs))
    if not len(by_chance):
        reasons = list(encoded.skipped.values())
        raise UserError(f"none of the {len(reasons)} pictures can be read, the first: {reasons[0]}")
    return Coded(items, positions, encoded.codes, model.layout, by_chance, of_pairs, encoded.skipped)


def draw_known(known: KnownPairs, rng: Generator) -> Positions:
    """Positions of items of known pairs."""
    count = min(known.units, MOST_UNITS)
    return known.items_of(np.sort(rng.choice(known.units, count, replace=False)))
