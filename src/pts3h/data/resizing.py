"""Pictures of an array, all of one size, scaled to another."""

import numpy as np
from numpy.typing import NDArray

from ..util.extras import is_installed
from .decoding import Pixels


def resize_batch(pixels: Pixels, size: int) -> Pixels:
    """(n, h, w, 3) → (n, size, size, 3): short side scaled to ``size``, centre cut out.

    Without torch, numpy does the same. Where the scale is no whole number, one value in 600 or fewer, which
    lies halfway between two levels, becomes the other one.
    """
    height, width = pixels.shape[1:3]
    scale = size / min(height, width)
    target = (max(size, round(height * scale)), max(size, round(width * scale)))
    scaled = (by_torch if is_installed("torch") else by_numpy)(pixels, target)
    top, left = (target[0] - size) // 2, (target[1] - size) // 2
    return scaled[:, top : top + size, left : left + size]


def by_torch(pixels: Pixels, target: tuple[int, int]) -> Pixels:
    """(n, h, w, 3) → (n, *target, 3)."""
    import torch

    from ..util import torch_threads  # noqa: F401  (sets them)

    images = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float()
    shrinks = target[0] < pixels.shape[1] or target[1] < pixels.shape[2]
    scaled = torch.nn.functional.interpolate(
        images, size=target, mode="bilinear", align_corners=False, antialias=shrinks
    )
    result: Pixels = scaled.round_().clamp_(0, 255).byte().permute(0, 2, 3, 1).numpy()
    return result


def by_numpy(pixels: Pixels, target: tuple[int, int]) -> Pixels:
    """(n, h, w, 3) → (n, *target, 3), in the precision and the order of torch: most ties fall as there."""
    down, across = (triangles(old, new) for old, new in zip(pixels.shape[1:3], target, strict=True))
    wide = np.einsum("tw,nhwc->nhtc", across, pixels.astype(np.float32), optimize=True)
    scaled = np.einsum("th,nhwc->ntwc", down, wide, optimize=True)
    return np.asarray(np.rint(scaled).clip(0, 255), np.uint8)


def triangles(old: int, new: int) -> NDArray[np.float32]:
    """(new, old) how much each old pixel counts for each new one: bilinear, smoothed where it shrinks."""
    scale = np.float32(old) / np.float32(new)
    half = np.float32(0.5)
    centre = (np.arange(new, dtype=np.float32) + half) * scale
    distance = np.abs(np.arange(old, dtype=np.float32) + half - centre[:, None])
    weights = np.maximum(0, 1 - distance / max(scale, np.float32(1)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)
