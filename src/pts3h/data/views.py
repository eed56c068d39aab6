"""Random perturbations of a whole batch at once: what the student and the teacher see of the same items.

Each takes a batch and a source of chance and returns a new batch: a generator, of which two calls make two
independent views, or the random numbers themselves. Everything is a batched tensor operation, so CPU and GPU
run the same code.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

CROP_CHANCES, JITTER_CHANCES = 5, 3  # random numbers per image
CHANCES = CROP_CHANCES + JITTER_CHANCES


@dataclass(frozen=True)
class ImageViews:
    """How images are perturbed.

    Attributes:
        scale: smallest share of the area that a random crop keeps; 1 switches cropping off.
        ratio: largest aspect ratio of a crop (its inverse is the smallest).
        flip: probability of a horizontal flip.
        jitter: strength of the random brightness, contrast and saturation; 0 switches it off.
    """

    scale: float = 0.5
    ratio: float = 4 / 3
    flip: float = 0.5
    jitter: float = 0.2

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Perturb images (n, 3, h, w) in [0, 1]."""
        return self.by_chance(images, self.chances(len(images), generator))

    def chances(self, count: int, generator: torch.Generator) -> Tensor:
        """Uniform numbers in [0, 1) for so many images: (8, count), or fewer where colours stay."""
        numbers = CROP_CHANCES + (JITTER_CHANCES if self.jitter else 0)
        return torch.rand((numbers, count), generator=generator, device=generator.device)

    def by_chance(self, images: Tensor, chance: Tensor) -> Tensor:
        """Perturb images (n, 3, h, w) in [0, 1] by uniform numbers (8, n) in [0, 1), eight per image."""
        if not len(images):  # a grid needs some
            return images
        shape = {"scale": self.scale, "ratio": self.ratio, "flip": self.flip}
        crop = random_resized_crop(images, chance[:CROP_CHANCES], **shape)
        return colour_jitter(crop, chance[CROP_CHANCES:], strength=self.jitter) if self.jitter else crop


class VectorChances(NamedTuple):
    """Random numbers for some vectors, (n, d) each; None for what is switched off.

    Attributes:
        noise: standard normal.
        keep: uniform in [0, 1).
    """

    noise: Tensor | None
    keep: Tensor | None

    def at(self, rows: Tensor) -> "VectorChances":
        """Those of some of the vectors."""
        noise, keep = (None if numbers is None else numbers[rows] for numbers in self)
        return VectorChances(noise, keep)


@dataclass(frozen=True)
class VectorViews:
    """How embeddings and cached features are perturbed.

    Attributes:
        noise: standard deviation of Gaussian noise, in units of the vectors' own spread.
        dropout: share of the entries set to their mean (the others grow to keep the spread).
    """

    noise: float = 0.1
    dropout: float = 0.1

    def __call__(
        self, vectors: Tensor, generator: torch.Generator, *, center: Tensor, spread: Tensor
    ) -> Tensor:
        """Perturb vectors (n, d), given the mean and the spread of each entry (d,)."""
        chances = self.chances(vectors.shape, generator)
        return self.by_chance(vectors, chances, center=center, spread=spread)

    def chances(self, shape: tuple[int, ...] | torch.Size, generator: torch.Generator) -> VectorChances:
        """Numbers for vectors of this shape."""
        device = generator.device
        noise = torch.randn(shape, generator=generator, device=device) if self.noise else None
        keep = torch.rand(shape, generator=generator, device=device) if self.dropout else None
        return VectorChances(noise, keep)

    def by_chance(self, vectors: Tensor, chances: VectorChances, *, center: Tensor, spread: Tensor) -> Tensor:
        """The same by numbers that are drawn."""
        if chances.noise is not None:
            vectors = torch.addcmul(vectors, chances.noise, spread, value=self.noise)
        if chances.keep is not None:
            keep = (chances.keep >= self.dropout).to(vectors.dtype)
            vectors = torch.addcmul(center, vectors - center, keep.div_(1 - self.dropout))
        return vectors


def random_resized_crop(images: Tensor, chance: Tensor, *, scale: float, ratio: float, flip: float) -> Tensor:
    """A random box of each image, stretched back to full size, mirrored with probability ``flip``.

    Args:
        images: (n, 3, h, w).
        chance: (5, n) uniform numbers in [0, 1).
        scale: smallest share of the area a box covers.
        ratio: largest aspect ratio of a box.
        flip: probability of a horizontal flip.
    """
    n = len(images)
    area, stretch, across, down, mirror = chance
    side = (scale + (1 - scale) * area).sqrt()
    stretch = torch.exp((2 * stretch - 1) * 0.5 * torch.tensor(ratio).log())
    stretch = stretch.clamp(side, 1 / side)  # neither side of a box is longer than the image's
    width, height = side * stretch, side / stretch
    # affine_grid works in [-1, 1]: a box of relative width w may move its centre by 1 - w either way
    move_x, move_y = (2 * across - 1) * (1 - width), (2 * down - 1) * (1 - height)
    zero = torch.zeros_like(width)
    turn = torch.where(mirror < flip, -width, width)
    affine = torch.stack([turn, zero, move_x, zero, height, move_y], dim=1).view(n, 2, 3)
    grid = F.affine_grid(affine, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, padding_mode="border", align_corners=False)


def colour_jitter(images: Tensor, chance: Tensor, *, strength: float) -> Tensor:
    """Random saturation, contrast and brightness, each by a factor from 1 - strength to 1 + strength.

    Args:
        images: (n, 3, h, w).
        chance: (3, n) uniform numbers in [0, 1).
        strength: 0 leaves the colours alone.
    """
    saturation, contrast, brightness = 1 + strength * (2 * chance.view(3, -1, 1, 1, 1) - 1)
    grey = (images * images.new_tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True)
    images = torch.lerp(grey, images, saturation)
    images = torch.lerp(grey.mean((2, 3), keepdim=True), images, contrast) * brightness
    return images.clamp_(0, 1)
