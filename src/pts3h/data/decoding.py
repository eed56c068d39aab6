"""One picture, a file or its content → pixels, within a bound on memory that all threads share.

A file of a few kilobytes can hold a picture of gigabytes. What decoding takes is reckoned from the header,
before a pixel is decoded: a picture that takes more than all threads may take together is refused, and one
that fits waits until the others leave enough.
"""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from traceback import clear_frames
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from ..cache.rows import NOWHERE
from ..cache.segment import Key
from ..errors import BrokenImage
from ..util.budget import Budget
from .formats import HEIC_EXTRA, formats_for, lacks_extra

Pixels = NDArray[np.uint8]
Source = Path | bytes  # a file, or the content of one
T = TypeVar("T")

MEMORY = Budget(1 << 30)
# bytes for each pixel that is decoded, measured; some libraries keep copies of their own
BYTES, BYTES_OF = 12, {"WEBP": 20, "AVIF": 20, "HEIF": 20}
# JPEG is scaled down while it is decoded, but coefficients that come in several passes are all kept
COEFFICIENTS_OF = {"JPEG": 6, "MPO": 6}

DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # modes of grey pictures of more than 8 bits
# what white may be where a picture does not say it; the first that is large enough
WHITES = {"I": (255, 65535), "F": (1, 255, 65535)}
# Pictures of these modes and transparent ones were decoded wrongly once. This is part of their keys, so that
# features which were kept then are not taken for theirs.
DECODED_ANEW = b"deep and transparent pictures"


def decode_file(source: Source, size: int) -> Pixels:
    """One picture as (3, size, size): upright, short side scaled to ``size``, centre cut out."""
    return within_memory(source, size, lambda image: centre(image, size))


def shrink_file(source: Source, size: int) -> Image.Image:
    """The whole picture in three colours, upright, at most ``size`` pixels wide and high, never enlarged."""
    return within_memory(source, size, lambda image: shrunk(image, size))


def within_memory(source: Source, size: int, work: Callable[[Image.Image], T]) -> T:
    """What ``work`` makes of a picture that need not be decoded larger than ``size``."""
    memory = opened(source, lambda image: memory_for(image, size))
    with MEMORY.take(memory):  # until all of the picture but the result is gone
        return opened(source, lambda image: work(upright(image, size, memory)))


def opened(source: Source, work: Callable[[Image.Image], T]) -> T:
    """What ``work`` makes of a picture; whatever goes wrong is said in one line."""
    name = source if isinstance(source, Path) else "the picture"
    try:
        return with_image(source, work)
    except Image.DecompressionBombError as error:
        raise BrokenImage(f"{name}: too many pixels to decode safely: make it smaller") from error
    except Exception as error:  # decoders fail on damaged files in ways that no list of errors covers
        clear_frames(error.__traceback__)  # which would hold on to the pixels
        raise BrokenImage(f"{name}: {reason_of(error, source)}") from error


def reason_of(error: Exception, source: Source) -> str:
    """Why a picture cannot be read, without its name."""
    if isinstance(source, bytes):  # of which Pillow says where in memory they are
        return (
            "no picture in a format that is read" if isinstance(error, UnidentifiedImageError) else str(error)
        )
    if lacks_extra(source):
        return f"HEIC pictures need an extra: {HEIC_EXTRA}"
    return str(error).removesuffix(f" {str(source)!r}") or type(error).__name__


def with_image(source: Source, work: Callable[[Image.Image], T]) -> T:
    """What ``work`` makes of a picture, which is gone afterwards."""
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    suffix = source.suffix.lower() if isinstance(source, Path) else ""
    with Image.open(file, formats=formats_for(suffix)) as image:
        return work(image)


def memory_for(image: Image.Image, size: int) -> int:
    """Bytes that it takes to decode an opened picture at ``size``, which it is prepared for."""
    width, height = image.size
    image.draft("RGB", (size, size))  # lets the JPEG decoder skip detail that would be scaled away
    name = image.format or ""
    memory = image.width * image.height * BYTES_OF.get(name, BYTES)
    memory += width * height * COEFFICIENTS_OF.get(name, 0)
    if memory > MEMORY.total:
        raise Image.DecompressionBombError
    return memory


def upright(image: Image.Image, size: int, memory: int) -> Image.Image:
    """An opened picture, decoded in so much memory. What is copied later is counted in ``BYTES``."""
    if memory_for(image, size) > memory:
        raise ValueError("it changed while it was read")
    ImageOps.exif_transpose(image, in_place=True)
    return image


def shrunk(image: Image.Image, size: int) -> Image.Image:
    """An upright picture, whole, in at most ``size`` x ``size``."""
    box = (min(image.width, size), min(image.height, size))
    if image.mode in DEEP:
        small = eight_bits(ImageOps.contain(image, box, Image.Resampling.BILINEAR), white_of(image))
    else:
        small = ImageOps.contain(three_colours(image), box, Image.Resampling.BILINEAR)
    return small.convert("RGB")


def centre(image: Image.Image, size: int) -> Pixels:
    """An upright picture as (3, size, size)."""
    if image.mode in DEEP:
        square = eight_bits(ImageOps.fit(image, (size, size), Image.Resampling.BILINEAR), white_of(image))
    else:
        square = ImageOps.fit(three_colours(image), (size, size), Image.Resampling.BILINEAR)
    return np.asarray(square.convert("RGB")).transpose(2, 0, 1)


def three_colours(image: Image.Image) -> Image.Image:
    """A picture of 8 bits in colour, or in grey as it is; a transparent one as a white page shows it."""
    if not image.has_transparency_data:
        return image if image.mode in ("L", "RGB") else image.convert("RGB")
    with_alpha = image if image.mode in ("LA", "RGBA") else image.convert("RGBA")
    page = Image.new("RGB", image.size, "white")
    page.paste(with_alpha, mask=with_alpha)
    return page


def white_of(image: Image.Image) -> int:
    """The value that white has in a deep picture: by its format, else by the values that there are."""
    if image.mode not in WHITES:
        return 65535
    low, high = cast(tuple[float, float], image.getextrema())
    for white in WHITES[image.mode]:
        if 0 <= low <= high <= white:
            return white
    raise ValueError(f"its values lie from {low:g} to {high:g}: save it with 8 or 16 bits, or from 0 to 1")


def eight_bits(image: Image.Image, white: int) -> Image.Image:
    """A deep picture as a grey one of 8 bits."""
    values = np.asarray(image).astype(np.float32) * (255 / white)
    if not np.isfinite(values).all():
        raise ValueError("it holds NaN or infinity")
    return Image.fromarray(np.round(values).clip(0, 255).astype(np.uint8))


def image_size(source: Source) -> tuple[int, int] | None:
    """Width and height from the file's header; None where it has no readable one."""
    try:
        return opened(source, lambda image: image.size)
    except BrokenImage:  # decode_file will say why
        return None


def picture_key(source: Source) -> Key:
    """A digest of a file's content, and of how it is decoded; ``NOWHERE`` where it cannot be read."""
    try:
        if isinstance(source, bytes):
            digest = hashlib.sha256(source)
        else:
            with source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
    except OSError:
        return NOWHERE
    if is_decoded_anew(source):
        digest.update(DECODED_ANEW)
    return digest.digest()


def is_decoded_anew(source: Source) -> bool:
    """Whether a picture was decoded wrongly once, by its header."""
    try:
        return opened(source, lambda image: image.mode in DEEP or image.has_transparency_data)
    except BrokenImage:
        return False
