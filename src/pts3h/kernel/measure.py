"""Which words of a code a distance needs, and how much their bits count."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codes import By, Layout, as_words

WORD = 64


class Measure(NamedTuple):
    """How much each bit counts, in codes cut down to the words that a distance needs.

    Attributes:
        largest: the largest distance.
        first: what a meaning bit counts.
        second: what a look bit counts.
        masks: (words,) the meaning bits of each word.
    """

    largest: int
    first: int
    second: int
    masks: NDArray[np.uint64]

    @property
    def plain(self) -> bool:
        """Whether every bit counts one."""
        return self.first == self.second == 1


@cache
def measure(layout: Layout, by: By = "both") -> tuple[slice, Measure]:
    """The words that a distance needs, and what their bits count."""
    first, second = layout.weights(by)
    masks = as_words(layout.mask[None])[0]
    whole, rest = divmod(layout.meaning, WORD)
    start = whole if by == "look" else 0
    stop = -(-layout.meaning // WORD) if by == "meaning" else len(masks)
    if not layout.look or (by != "both" and not rest):  # no bit of the other part is in these words
        first = second = 1
    return slice(start, stop), Measure(layout.farthest(by), first, second, masks[start:stop])
