"""Data sets whose pictures are one array: how they are kept in the cache, and made into a Dataset."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...util.files import array_writer, cache_folder, write_together
from ..decoding import Pixels
from ..images import ImageArray
from ..items import Items, Labels
from ..splits import Protocol
from .dataset import Dataset

Raw = tuple[Pixels, Labels]  # pictures (n, h, w, 3) and the class of each


def array_dataset(name: str, raw: Raw, classes: tuple[str, ...], protocol: Protocol) -> Dataset:
    """A data set out of pictures and labels; ids are positions."""
    pixels, labels = raw
    ids = [str(position) for position in range(len(labels))]
    return Dataset(name, Items(ImageArray(pixels), ids, labels, classes), protocol)


def kept(name: str, folder: Path | None, get: Callable[[Path | None], Raw]) -> Raw:
    """What ``get`` returns, kept in the cache as plain arrays unless the user named a folder."""
    if folder is not None:
        return get(folder)
    cache = cache_folder("datasets")
    pixels_file, labels_file = cache / f"{name}-pixels.npy", cache / f"{name}-labels.npy"
    if not (pixels_file.exists() and labels_file.exists()):
        pixels, labels = get(None)
        write_together({pixels_file: array_writer(pixels), labels_file: array_writer(labels)})
    return (
        np.load(pixels_file, mmap_mode="r", allow_pickle=False),
        np.load(labels_file, allow_pickle=False),
    )


def three_colours(grey: Pixels) -> Pixels:
    """Grey pictures (n, h, w) → (n, h, w, 3)."""
    return np.repeat(grey[..., None], 3, axis=3)
