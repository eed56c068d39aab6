"""Pictures from files or arrays, as whole batches of one size."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..cache.known_files import file_keys
from ..cache.segment import Key
from ..errors import BrokenImage
from ..util.cores import usable_cores
from ..util.forks import after_fork
from ..util.memory import share_freed_memory
from ..util.progress import Progress
from .decoding import Pixels, decode_file, image_size, picture_key
from .resizing import resize_batch

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Loaded:
    """A batch of pictures.

    Attributes:
        pixels: (n, 3, size, size) uint8; black where a picture is broken.
        broken: for each broken picture its place in the batch and the reason.
    """

    pixels: Pixels
    broken: dict[int, str]


class ImageFiles:
    """Pictures in files, decoded when asked for, several at once.

    Args:
        paths: one file per picture.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def load(self, positions: Positions, size: int) -> Loaded:
        """Decode the pictures at ``positions``, short side scaled to ``size``, centre cut out."""
        pixels = np.zeros((len(positions), 3, size, size), np.uint8)
        broken: dict[int, str] = {}

        def decode(place: int) -> None:
            try:
                pixels[place] = decode_file(self.paths[positions[place]], size)
            except BrokenImage as error:
                broken[place] = str(error)

        list(decoders().map(decode, range(len(positions))))
        return Loaded(pixels, dict(sorted(broken.items())))

    def typical_side(self) -> int:
        """Median short side of a sample of the pictures."""
        sample = self.paths[:: max(len(self.paths) // 64, 1)]
        sides = [min(size) for size in map(image_size, sample) if size is not None]
        return int(np.median(sides)) if sides else 0

    def subset(self, positions: Positions) -> "ImageFiles":
        """Only the pictures at ``positions``."""
        return ImageFiles([self.paths[position] for position in positions])

    def keys(self, progress: Progress = None) -> list[Key]:
        """A digest of each file's content; ``NOWHERE`` for one that cannot be read."""
        return file_keys(self.paths, picture_key, progress)

    def changed(self, positions: Positions, keys: Sequence[Key]) -> dict[int, str]:
        """Place and reason of the files that no longer are what they were when ``keys`` were made."""
        paths = [self.paths[position] for position in positions]
        now = decoders().map(picture_key, paths)
        return {
            place: f"{path}: changed while it was read"
            for place, (path, key, before) in enumerate(zip(paths, now, keys, strict=True))
            if key != before
        }


class ImageArray:
    """Pictures in memory.

    Args:
        pixels: (n, h, w, 3) uint8.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels

    def __len__(self) -> int:
        return len(self.pixels)

    def load(self, positions: Positions, size: int) -> Loaded:
        """The pictures at ``positions``, short side scaled to ``size``, centre cut out."""
        chosen = np.asarray(self.pixels[positions])
        if chosen.shape[1:3] != (size, size):
            chosen = resize_batch(chosen, size)
        return Loaded(np.ascontiguousarray(chosen.transpose(0, 3, 1, 2)), {})

    def typical_side(self) -> int:
        """Short side of the pictures."""
        return int(min(self.pixels.shape[1:3]))

    def subset(self, positions: Positions) -> "ImageArray":
        """Only the pictures at ``positions``."""
        return ImageArray(self.pixels[positions])

    def keys(self, progress: Progress = None) -> list[Key]:
        """A digest of each picture's pixels."""
        shape = str(self.pixels.shape[1:]).encode()
        return [
            hashlib.sha256(shape + np.ascontiguousarray(picture).tobytes()).digest()
            for picture in self.pixels
        ]

    def changed(self, positions: Positions, keys: Sequence[Key]) -> dict[int, str]:
        """Nobody changes what is in memory."""
        return {}


Images = ImageFiles | ImageArray


@cache
def decoders() -> ThreadPoolExecutor:
    """The threads of this process that read pictures, one per core: more would only hold up the network."""
    share_freed_memory()
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="decode")


after_fork(decoders.cache_clear)  # a child has none of its parent's threads
