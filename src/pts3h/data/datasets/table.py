"""The data sets of the field, by name.

CIFAR-10 and Fashion-MNIST are fetched once and kept in the cache; NUS-WIDE-21 and ImageNet-100 are read from
the field's list files and an image folder that the user has.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...errors import UserError
from ...util.files import cache_folder, write_array
from ..images import ImageArray
from ..items import Items
from ..splits import PROTOCOLS
from . import cifar10, fashion_mnist
from .dataset import Dataset, Raw
from .list_files import list_dataset
from .mosaic import MOSAICS, make_mosaics

DATASETS = ("cifar10", "fashion-mnist", "digits", "mosaic", "nuswide21", "imagenet100")


def load_dataset(name: str, folder: Path | str | None = None) -> Dataset:
    """Load a data set by name, fetching it first where that is possible.

    Args:
        name: one of DATASETS.
        folder: where the user keeps it: the canonical archive of CIFAR-10 (or its folder), the four files of
            Fashion-MNIST, or for NUS-WIDE-21 and ImageNet-100 the folder with list files and images.
    """
    place = None if folder is None else Path(folder)
    match name:
        case "cifar10":
            return array_dataset(name, kept("cifar10", place, cifar10.get_cifar10), cifar10.CLASSES)
        case "fashion-mnist":
            raw = kept("fashion-mnist", place, fashion_mnist.get_fashion_mnist)
            return array_dataset(name, raw, fashion_mnist.CLASSES)
        case "digits":
            return array_dataset(name, load_digits(), tuple("0123456789"))
        case "mosaic":
            return mosaic_dataset(MOSAICS, place)
        case "nuswide21" | "imagenet100":
            if place is None:
                raise UserError(
                    f"{name} cannot be downloaded freely: say which folder holds its list files and images"
                )
            return list_dataset(name, place)
    raise UserError(f"there is no data set {name!r}: choose from {', '.join(DATASETS)}")


def array_dataset(name: str, raw: Raw, classes: tuple[str, ...]) -> Dataset:
    """A data set whose pictures are in memory."""
    pixels, labels = raw
    ids = [str(position) for position in range(len(labels))]
    return Dataset(name, Items(ImageArray(pixels), ids, labels, classes), PROTOCOLS[name])


def mosaic_dataset(count: int, place: Path | None = None) -> Dataset:
    """So many mosaics of CIFAR-10, always the same ones."""
    pixels, labels = kept("cifar10", place, cifar10.get_cifar10)
    return Dataset("mosaic", make_mosaics(pixels, labels, cifar10.CLASSES, count=count), PROTOCOLS["mosaic"])


def kept(name: str, place: Path | None, get: Callable[[Path | None], Raw]) -> Raw:
    """What ``get`` returns, kept in the cache as plain arrays unless the user named a place."""
    if place is not None:
        return get(place)
    folder = cache_folder("datasets")
    pixels_file, labels_file = folder / f"{name}-pixels.npy", folder / f"{name}-labels.npy"
    if not (pixels_file.exists() and labels_file.exists()):
        pixels, labels = get(None)
        write_array(pixels_file, pixels)
        write_array(labels_file, labels)
    return (
        np.load(pixels_file, mmap_mode="r", allow_pickle=False),
        np.load(labels_file, allow_pickle=False),
    )


def load_digits() -> Raw:
    """scikit-learn's 1,797 digits of 8 x 8 pixels: always there, very small."""
    try:
        from sklearn.datasets import load_digits as load
    except ImportError as error:
        raise UserError(
            "the digits come with scikit-learn, which is not installed: pip install scikit-learn"
        ) from error
    grey = (load().images * (255 / 16)).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=3), load().target.astype(np.int64)
