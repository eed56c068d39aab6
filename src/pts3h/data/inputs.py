"""What the networks are fed: two independent views of the same items at a step, or the items as they are.

A view depends on the seed and the step alone, so a resumed run sees what an uninterrupted one would have.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from numpy.random import default_rng
from numpy.typing import NDArray
from torch import Tensor

from .batches import Share
from .images import Images, Positions
from .views import ImageViews, VectorViews

SAMPLE = 4096  # items whose mean and spread stand for all


class Inputs(ABC):
    """Items as tensors.

    Attributes:
        worth_preparing: whether views take so long that a second thread should make them ahead of time.
        batch: items at a time that networks run on quickly.
        broken: reason by position, for pictures that could not be read so far.
    """

    worth_preparing: bool
    batch: int
    broken: dict[int, str]

    @property
    def standard(self) -> tuple[Tensor, Tensor] | None:
        """Mean and spread of each entry of the vectors; None for pictures."""
        return None

    @abstractmethod
    def two_views(self, positions: Positions, seed: int, share: Share | None = None) -> tuple[Tensor, Tensor]:
        """Two independent perturbations of the items at ``positions``; only of a ``share``, where given.

        Chance is drawn for all of them, so that an item looks the same whoever makes its views.
        """

    @abstractmethod
    def clean(self, positions: Positions) -> Tensor:
        """The items at ``positions``, unperturbed."""

    def rows(self, positions: Positions) -> NDArray[np.float32]:
        """The unperturbed items as rows (n, d), for systems that work on plain matrices."""
        return np.asarray(self.clean(positions).flatten(1).numpy(), np.float32)

    def copies(self, positions: Positions) -> NDArray[np.floating]:
        """(n, copies, d) perturbed copies that are at hand, as rows; none by default."""
        return np.empty((len(positions), 0, 0), np.float32)


class VectorInputs(Inputs):
    """Embeddings, or cached features of an image and of perturbed copies of it.

    Args:
        array: (n, d), or (n, 1 + copies, d) with the clean vector first; may be on disk.
        views: noise and dropout on top.
        members: positions of the items that take part in training, whose mean and spread count; None for all.
        broken: reason by position, for pictures whose features could not be computed.
        steady: whether the second view is what is typical of an item instead of one of its copies.
        smaller: whether the copies are of smaller pictures than the clean vector, and say less than it does.
    """

    worth_preparing = False  # a step on vectors takes milliseconds: a second thread costs more than it saves
    batch = 512

    def __init__(
        self,
        array: NDArray[np.floating],
        views: VectorViews | None = None,
        members: Positions | None = None,
        broken: Mapping[int, str] | None = None,
        *,
        steady: bool = False,
        smaller: bool = False,
    ) -> None:
        self.steady, self.smaller = steady, smaller
        self.array = array[:, None, :] if array.ndim == 2 else array
        self.views = views or VectorViews(noise=0.0, dropout=0.0)
        self.members = np.arange(len(array)) if members is None else members
        self.broken = dict(broken or {})

    @cached_property
    def standard(self) -> tuple[Tensor, Tensor]:
        """Mean and spread of each entry, over a sample of those that take part."""
        chosen = self.members[:: max(len(self.members) // SAMPLE, 1)]
        sample = np.asarray(self.array[chosen, 0], np.float32)
        return torch.from_numpy(sample.mean(axis=0)), torch.from_numpy(sample.std(axis=0))

    def two_views(self, positions: Positions, seed: int, share: Share | None = None) -> tuple[Tensor, Tensor]:
        """Two different copies where there are several, then noise and dropout, each drawn anew.

        A steady second view has none of this: a teacher that sees it has more to say.
        """
        count, copies = len(positions), self.array.shape[1]
        rng = default_rng(seed)
        first = rng.integers(copies, size=count)
        second = (first + rng.integers(1, copies, size=count)) % copies if copies > 1 else first
        generator = torch.Generator().manual_seed(seed)
        chances = self.views.chances((2 * count, self.array.shape[2]), generator)
        if share is not None:
            positions, first, second = (array[share.rows] for array in (positions, first, second))
            chances = chances.at(torch.arange(2 * count).view(2, count)[:, share.rows].flatten())
        both = self._take(np.concatenate([positions, positions]), np.concatenate([first, second]))
        center, spread = self.standard
        perturbed = self.views.by_chance(both, chances, center=center, spread=spread)
        view_1, view_2 = perturbed[: len(positions)], perturbed[len(positions) :]
        return view_1, torch.from_numpy(self.typical(positions)) if self.steady else view_2

    def clean(self, positions: Positions) -> Tensor:
        """The unperturbed vectors."""
        return self._take(positions, np.zeros(len(positions), np.int64))

    def copies(self, positions: Positions) -> NDArray[np.floating]:
        """The cached copies, where the vectors are features of pictures."""
        return np.asarray(self.array[positions, 1:])

    def typical(self, positions: Positions) -> NDArray[np.float32]:
        """The mean of each item's copies: what they share says more of the item than any one of them.

        Smaller ones would blur it. Then the clean vector is typical.
        """
        counted = slice(1) if self.smaller else slice(None)
        return np.concatenate(
            [
                np.asarray(self.array[part, counted], np.float32).mean(axis=1)
                for part in np.array_split(positions, len(positions) // SAMPLE + 1)
            ]
        )

    def _take(self, positions: Positions, copies: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(self.array[positions, copies]).float()


class MapInputs(Inputs):
    """What the lower blocks of an image network make of pictures and of perturbed copies of them.

    Args:
        array: (n, 1 + copies, d) with the picture as it is first; may be on disk.
    """

    worth_preparing = False
    batch = 256

    def __init__(self, array: NDArray[np.floating]) -> None:
        self.array, self.broken = array, {}

    def two_views(self, positions: Positions, seed: int, share: Share | None = None) -> tuple[Tensor, Tensor]:
        """A perturbed copy of each picture, where there are any, and the picture as it is."""
        last = self.array.shape[1] - 1
        copies = default_rng(seed).integers(min(1, last), last + 1, size=len(positions))
        rows = slice(None) if share is None else share.rows
        return self._take(positions[rows], copies[rows]), self.clean(positions[rows])

    def clean(self, positions: Positions) -> Tensor:
        """Of the pictures as they are."""
        return self._take(positions, np.zeros(len(positions), np.int64))

    def _take(self, positions: Positions, copies: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(self.array[positions, copies]).float()


class ImageInputs(Inputs):
    """Images, decoded and perturbed as they are needed.

    Args:
        images: the pictures.
        size: pixels per side.
        views: how they are perturbed.
    """

    worth_preparing = True
    batch = 64

    def __init__(self, images: Images, size: int, views: ImageViews | None = None) -> None:
        self.images, self.size, self.views = images, size, views or ImageViews()
        self.broken = {}

    def two_views(self, positions: Positions, seed: int, share: Share | None = None) -> tuple[Tensor, Tensor]:
        """Two random crops, flips and colourings of each image."""
        rows = slice(None) if share is None else share.rows
        clean = self.clean(positions[rows])
        generator = torch.Generator().manual_seed(seed)
        chances = (self.views.chances(len(positions), generator)[:, rows] for _ in range(2))
        view_1, view_2 = (self.views.by_chance(clean, chance) for chance in chances)
        return view_1, view_2

    def clean(self, positions: Positions) -> Tensor:
        """(n, 3, size, size) in [0, 1]; black where a picture is broken, which is noted."""
        loaded = self.images.load(positions, self.size)
        self.broken |= {int(positions[place]): reason for place, reason in loaded.broken.items()}
        return torch.from_numpy(loaded.pixels).float().div_(255)
