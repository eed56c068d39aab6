"""A multi-label data set out of CIFAR-10: 2 x 2 mosaics with a flag for each class that is in them."""

from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from ...errors import UserError
from ..decoding import Pixels
from ..images import ImageArray
from ..items import Items, Labels
from ..splits import Protocol
from . import cifar10
from .dataset import Dataset

PROTOCOL = Protocol(queries=100, labelled=500, map_at=5000)
MOSAICS = 12_000
MOST_CLASSES = 3  # four random tiles would make most pairs alike; one to three classes make about a third


def load_mosaic(folder: Path | None, count: int | None) -> Dataset:
    """Mosaics of CIFAR-10, always the same ones; ``folder`` is where the user keeps its archive."""
    pixels, labels = cifar10.raw_cifar10(folder)
    items = make_mosaics(pixels, labels, cifar10.CLASSES, count=MOSAICS if count is None else count)
    return Dataset("mosaic", items, PROTOCOL)


def make_mosaics(
    pixels: Pixels, labels: Labels, classes: tuple[str, ...], *, count: int = MOSAICS, seed: int = 0
) -> Items:
    """Draw mosaics; no picture is in two of them, so a query shares no tile with the database.

    Args:
        pixels: (n, h, w, 3).
        labels: (n,) class of each picture.
        classes: their names.
        count: how many mosaics.
        seed: of the draw.

    Returns:
        Items of (2h, 2w) pixels with (count, classes) flags; two are alike where they share a flag.
    """
    rng = default_rng((seed, 21))
    kinds = int(labels.max()) + 1
    tiles = np.stack([draw_classes(kinds, rng) for _ in range(count)])
    chosen = np.empty_like(tiles)
    for kind in range(kinds):
        wanted = tiles == kind
        pictures = rng.permutation(np.flatnonzero(labels == kind))
        if wanted.sum() > len(pictures):
            raise UserError(
                f"{count} mosaics need {wanted.sum()} pictures of class {kind}, there are {len(pictures)}: "
                "ask for fewer images"
            )
        chosen[wanted] = pictures[: wanted.sum()]
    flags = np.zeros((count, kinds), np.int64)
    np.put_along_axis(flags, tiles, 1, axis=1)
    ids = [str(position) for position in range(count)]
    return Items(ImageArray(assemble(pixels, chosen)), ids, flags, classes)


def draw_classes(kinds: int, rng: Generator) -> NDArray[np.int64]:
    """(4,) classes of the tiles: one to three different ones, each present at least once."""
    different = rng.choice(kinds, rng.integers(1, min(MOST_CLASSES, kinds) + 1), replace=False)
    tiles = np.concatenate([different, rng.choice(different, 4 - len(different))])
    return rng.permutation(tiles)


def assemble(pixels: Pixels, chosen: NDArray[np.int64]) -> Pixels:
    """(count, 4) positions → (count, 2h, 2w, 3): top left, top right, bottom left, bottom right."""
    height, width = pixels.shape[1:3]
    sheet = np.empty((len(chosen), 2 * height, 2 * width, 3), np.uint8)
    for tile in range(4):
        rows, columns = divmod(tile, 2)
        place = (slice(rows * height, (rows + 1) * height), slice(columns * width, (columns + 1) * width))
        sheet[:, *place] = pixels[chosen[:, tile]]
    return sheet
