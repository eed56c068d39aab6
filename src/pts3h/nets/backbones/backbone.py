"""What every image network has in common: it takes images in [0, 1] and returns one vector per image."""

from collections.abc import Sequence
from typing import TypedDict

import torch
from torch import Tensor, nn

from .weights import load_weights


class Colours(TypedDict):
    """Mean and spread of each colour."""

    mean: Sequence[float]
    std: Sequence[float]


# colours of ImageNet, as torchvision's weights expect them
IMAGENET: Colours = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


class Backbone(nn.Module):
    """Images (n, 3, h, w) in [0, 1] → features (n, width).

    Args:
        width: numbers in a feature vector.
        mean: mean of each colour that the network was trained with.
        std: spread of each colour that the network was trained with.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, *, width: int, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.width = width
        self.register_buffer("mean", torch.tensor(mean).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(1, 3, 1, 1), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Normalise the images and compute their features."""
        return self.extract((images - self.mean) / self.std)

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features; each network's own part."""
        raise TypeError(f"{type(self).__name__} does not say how it computes features: define extract")

    def take_weights(self, tensors: dict[str, Tensor], source: str) -> list[str]:
        """Copy the tensors of a weight file; return the names of parameters that it does not have."""
        return load_weights(self, tensors, source)
