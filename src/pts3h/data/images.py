"""Pictures from files or arrays, as whole batches of one size."""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from ..cache.known_files import file_key, file_keys
from ..cache.segment import Key
from ..errors import BrokenImage
from ..util.progress import Progress

Positions = NDArray[np.int64]
Pixels = NDArray[np.uint8]

# decoders we let loose on strangers' files: the picture formats people have, none of the exotic ones
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")


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

        list(self._threads.map(decode, range(len(positions))))
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
        return file_keys(self.paths, progress)

    def changed(self, positions: Positions, keys: Sequence[Key]) -> dict[int, str]:
        """Place and reason of the files that no longer are what they were when ``keys`` were made."""
        paths = [self.paths[position] for position in positions]
        now = self._threads.map(file_key, paths)
        return {
            place: f"{path}: changed while it was read"
            for place, (path, key, before) in enumerate(zip(paths, now, keys, strict=True))
            if key != before
        }

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(thread_name_prefix="decode")


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


def decode_file(path: Path, size: int) -> Pixels:
    """One picture as (3, size, size): upright, short side scaled to ``size``, centre cut out."""
    try:
        with Image.open(path, formats=FORMATS) as image:
            image.draft("RGB", (size, size))  # lets the JPEG decoder skip detail that would be scaled away
            upright = ImageOps.exif_transpose(image).convert("RGB")
            square = ImageOps.fit(upright, (size, size), Image.Resampling.BILINEAR)
            return np.asarray(square).transpose(2, 0, 1)
    except Image.DecompressionBombError as error:
        raise BrokenImage(f"{path}: too many pixels to decode safely") from error
    except Exception as error:  # decoders fail on damaged files in ways that no list of errors covers
        reason = str(error).removesuffix(f" {str(path)!r}")
        raise BrokenImage(f"{path}: {reason or type(error).__name__}") from error


def image_size(path: Path) -> tuple[int, int] | None:
    """Width and height from the file's header; None where it has no readable one."""
    try:
        with Image.open(path, formats=FORMATS) as image:
            return image.size
    except Exception:  # as in decode_file, which will name the reason
        return None


def resize_batch(pixels: Pixels, size: int) -> Pixels:
    """(n, h, w, 3) → (n, size, size, 3): short side scaled to ``size``, centre cut out."""
    import torch

    height, width = pixels.shape[1:3]
    scale = size / min(height, width)
    target = (max(size, round(height * scale)), max(size, round(width * scale)))
    images = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float()
    scaled = torch.nn.functional.interpolate(
        images, size=target, mode="bilinear", align_corners=False, antialias=scale < 1
    )
    top, left = (target[0] - size) // 2, (target[1] - size) // 2
    square = scaled[:, :, top : top + size, left : left + size]
    result: Pixels = square.round_().clamp_(0, 255).byte().permute(0, 2, 3, 1).numpy()
    return result


def find_images(folder: Path) -> Iterator[Path]:
    """All picture files below ``folder`` in a fixed order, hidden files and folders left out."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if path.suffix.lower() in SUFFIXES and not hidden and path.is_file():
            yield path
