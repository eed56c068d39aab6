"""How alike items are before anyone has answered: vectors whose cosines are similarities along the graph."""

from collections.abc import Sequence

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from ..data.images import Positions
from ..data.known_pairs import PairList
from ..unsupervised.guide import FARTHEST, neighbourhood


def along_graph(
    features: NDArray[np.floating], *, also: Sequence[int] = ()
) -> tuple[Positions, NDArray[np.float32]]:
    """Positions of items, ascending, and their coordinates (m, e) along the graph of nearest neighbours.

    Args:
        features: (n, d) of all items.
        also: positions that take part in any case, such as those of answers; of very many items, some do.
    """
    count = len(features)
    others = default_rng(0).permutation(np.setdiff1d(np.arange(count), also))
    members = np.sort(np.concatenate([np.array(also, np.int64), others])[:FARTHEST])
    nothing = PairList(count, np.empty((0, 3), np.int64))
    near = neighbourhood(count, members, nothing, lambda places: np.asarray(features[places], np.float32))
    return near.members, near.coordinates.numpy()
