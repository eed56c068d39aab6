"""Known pairs as one signed matrix, and what is left of it once some bits are taken."""

import numpy as np
from numpy.typing import NDArray

from ...data.known_pairs import KnownPairs

Signed = NDArray[np.float32]


def signed_pairs(known: KnownPairs) -> Signed:
    """(m, m) over the m items in known pairs: +1 alike (an item is like itself), -1 not, 0 unknown."""
    is_known, similar = known.block(known.labelled)
    signed = np.where(is_known, np.where(similar, np.float32(1), np.float32(-1)), np.float32(0))
    np.fill_diagonal(signed, 1)
    return signed


class Residual:
    """bits * S - sum of y y' over the bits taken so far, on known pairs: what the KSH loss has left.

    The loss |bits S - Y Y'|² falls with a further bit y exactly as far as y' residual y is large.

    Args:
        signed: (m, m) of -1, 0 and +1; used up.
        bits: code length.
    """

    def __init__(self, signed: Signed, bits: int) -> None:
        self.unknown = signed == 0 if (signed == 0).any() else None
        self.matrix = signed
        self.matrix *= bits

    def take(self, bit: NDArray[np.floating]) -> None:
        """Subtract what a bit (m,) of -1 and +1 explains."""
        explained = np.outer(bit, bit).astype(np.float32)
        if self.unknown is not None:
            explained[self.unknown] = 0
        self.matrix -= explained

    def gain(self, bit: NDArray[np.floating]) -> float:
        """y' residual y: the larger, the better the bit."""
        return float(bit @ (self.matrix @ bit.astype(np.float32)))

    @property
    def loss(self) -> float:
        """What remains of the KSH loss."""
        return float(np.square(self.matrix, dtype=np.float64).sum())
