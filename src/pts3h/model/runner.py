"""What runs a trained model: torch, or onnxruntime where torch is missing or not worth waiting for."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.items import Items
from ..settings.asked import Network
from ..settings.used import Used
from ..util.progress import Progress

if TYPE_CHECKING:  # torch is imported by whoever runs on it
    from .trained import Networks

# (n, bits) of which the learned bits come first, and the reason by position for unreadable pictures
Outputs = tuple[NDArray[np.float32], dict[int, str]]


class Runner(Protocol):
    """Turns items into real outputs, whose signs are the code."""

    @property
    def used(self) -> Used:
        """The settings."""

    @property
    def width(self) -> int:
        """Numbers in an input vector: the embeddings', or the backbone's features."""

    @property
    def fingerprint(self) -> str:
        """A short name of everything that shapes the codes."""

    @property
    def networks(self) -> "Networks":
        """The networks in torch; refused where torch or their weights are missing."""

    def run(self, items: Items, network: Network, *, keep: bool, progress: Progress) -> Outputs:
        """Outputs of items that this model encodes."""
