"""What the networks are fed: two independent views of the same items at a step, or the items as they are.

A view depends on the seed and the step alone, so a resumed run sees what an uninterrupted one would have.
"""

from typing import Protocol

import numpy as np
import torch
from numpy.random import default_rng
from numpy.typing import NDArray
from torch import Tensor

from .images import Images, Positions
from .views import ImageViews, VectorViews


class Inputs(Protocol):
    """Items as tensors."""

    def two_views(self, positions: Positions, seed: int) -> tuple[Tensor, Tensor]:
        """Two independent perturbations of the items at ``positions``."""
        ...

    def clean(self, positions: Positions) -> Tensor:
        """The items at ``positions``, unperturbed."""
        ...


class VectorInputs:
    """Embeddings, or cached features of an image and of perturbed copies of it.

    Args:
        array: (n, d), or (n, 1 + copies, d) with the clean vector first; may be on disk.
        views: noise and dropout on top.
        members: positions of the items that take part in training, whose mean and spread count; None for all.
    """

    def __init__(
        self, array: NDArray[np.floating], views: VectorViews, members: Positions | None = None
    ) -> None:
        self.array = array[:, None, :] if array.ndim == 2 else array
        self.views = views
        chosen = np.arange(len(array)) if members is None else members
        sample = np.asarray(self.array[chosen[:: max(len(chosen) // 4096, 1)], 0], np.float32)
        self.center = torch.from_numpy(sample.mean(axis=0))
        self.spread = torch.from_numpy(sample.std(axis=0))

    def two_views(self, positions: Positions, seed: int) -> tuple[Tensor, Tensor]:
        """Two different copies where there are several, then noise and dropout, each drawn anew."""
        count, copies = len(positions), self.array.shape[1]
        rng = default_rng(seed)
        first = rng.integers(copies, size=count)
        second = (first + rng.integers(1, copies, size=count)) % copies if copies > 1 else first
        both = self._take(np.concatenate([positions, positions]), np.concatenate([first, second]))
        generator = torch.Generator().manual_seed(seed)
        perturbed = self.views(both, generator, center=self.center, spread=self.spread)
        return perturbed[:count], perturbed[count:]

    def clean(self, positions: Positions) -> Tensor:
        """The unperturbed vectors."""
        return self._take(positions, np.zeros(len(positions), np.int64))

    def _take(self, positions: Positions, copies: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(self.array[positions, copies]).float()


class ImageInputs:
    """Images, decoded and perturbed as they are needed.

    Args:
        images: the pictures.
        size: pixels a side.
        views: how they are perturbed.
    """

    def __init__(self, images: Images, size: int, views: ImageViews) -> None:
        self.images, self.size, self.views = images, size, views

    def two_views(self, positions: Positions, seed: int) -> tuple[Tensor, Tensor]:
        """Two random crops, flips and colourings of each image."""
        clean = self.clean(positions)
        generator = torch.Generator().manual_seed(seed)
        return self.views(clean, generator), self.views(clean, generator)

    def clean(self, positions: Positions) -> Tensor:
        """(n, 3, size, size) in [0, 1]."""
        return torch.from_numpy(self.images.load(positions, self.size).pixels).float().div_(255)
