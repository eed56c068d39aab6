"""An image network in two parts: lower blocks that stay as they are, and upper ones that learn.

What the lower part makes of a picture does not change while the upper one is trained. So it is computed once
and kept, as features are. Trained, both are one network again.
"""

from abc import abstractmethod
from copy import deepcopy

import torch
from torch import Tensor, nn

from ...errors import UserError
from .backbone import Backbone


class Divisible(Backbone):
    """A backbone that is made of blocks, one after the other."""

    blocks: nn.Sequential

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features."""
        return self.upper(self.lower(images, 0), 0)

    @abstractmethod
    def lower(self, images: Tensor, blocks: int) -> Tensor:
        """Normalised images → maps (n, channels, h, w) by all up to and including so many blocks."""

    @abstractmethod
    def upper(self, maps: Tensor, blocks: int) -> Tensor:
        """Those maps → features (n, width) by all that is above them."""

    @abstractmethod
    def fix(self, blocks: int) -> None:
        """Let the lower part learn nothing, nor what takes long to learn and matters little."""


class LowerPart(Backbone):
    """Images (n, 3, size, size) in [0, 1] → maps of the first blocks, as one row each.

    Args:
        whole: the image network; left as it is, and a copy runs.
        blocks: how many of its blocks.
        size: pixels per side.
    """

    def __init__(self, whole: Backbone, blocks: int, size: int) -> None:
        whole = deepcopy(divisible(whole, blocks)).eval()
        super().__init__(width=0, mean=whole.mean.flatten().tolist(), std=whole.std.flatten().tolist())
        self.whole, self.blocks = whole, blocks
        with torch.inference_mode():
            self.shape = self.maps(torch.zeros(1, 3, size, size)).shape[1:]
        self.width = self.shape.numel()

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → rows."""
        return self.maps(images).flatten(1)

    def maps(self, images: Tensor) -> Tensor:
        """(n, h, w, channels): as convolutions run fastest, rows are kept."""
        return self.whole.lower(images, self.blocks).permute(0, 2, 3, 1)


class UpperPart(Backbone):
    """Rows that the lower part made → features.

    Args:
        whole: the image network, whose lower part is fixed from now on.
        lower: what makes the rows.
    """

    def __init__(self, whole: Backbone, lower: LowerPart) -> None:
        whole = divisible(whole, lower.blocks)
        super().__init__(width=whole.width, mean=(0.0,) * 3, std=(1.0,) * 3)
        self.whole, self.blocks, self.shape = whole, lower.blocks, lower.shape
        whole.fix(self.blocks)

    def forward(self, images: Tensor) -> Tensor:
        """Rows in the place of images (n, h * w * channels) → (n, width)."""
        return self.whole.upper(images.view(-1, *self.shape).permute(0, 3, 1, 2), self.blocks)


def divisible(whole: Backbone, blocks: int) -> Divisible:
    """The network, if it has so many blocks."""
    if not isinstance(whole, Divisible):
        raise UserError(
            f"{type(whole).__name__} has no blocks that could stay as they are: leave out fixed_blocks, or "
            "choose an efficientnet"
        )
    if not 0 < blocks <= len(whole.blocks):
        raise UserError(f"fixed_blocks must be between 1 and {len(whole.blocks)} here, got {blocks}")
    return whole
