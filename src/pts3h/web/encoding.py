"""Uploads → codes: one thread runs the network, so that uploads wait for each other and for nobody else."""

import time
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from ..cache.segment import Key
from ..codes import Codes
from ..data.decoding import Pixels, decode_file, opened, picture_key
from ..data.images import ImageArray
from ..data.items import Items
from ..errors import BrokenImage
from ..model.model import Model
from ..util.cores import limit_threads, usable_cores
from ..util.progress import Progress
from .errors import Refused
from .limits import MAX_WAITING, Limits
from .metrics import Metrics
from .work import run_in


class Upload(ImageArray):
    """A picture that was uploaded. If its file is in the collection, so are its features, and its code.

    Args:
        pixels: (3, h, w) decoded.
        content: of its file.
    """

    def __init__(self, pixels: Pixels, content: bytes) -> None:
        super().__init__(pixels.transpose(1, 2, 0)[None])
        self.content = content

    def keys(self, progress: Progress = None) -> list[Key]:
        """The digest of the file."""
        return [picture_key(self.content)]


class Encoder:
    """Encodes pictures that were uploaded. They are decoded in memory and never touch the disk.

    Args:
        limits: the bounds.
        metrics: where it is counted.
    """

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        limit_threads(max(1, usable_cores() // 2))  # the other half is for searches
        self.limits, self.metrics = limits, metrics
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="upload")
        self._waiting = 0  # changed by the event loop alone

    async def code_of(self, content: bytes, model: Model) -> Codes:
        """(bytes,) the code of a picture."""
        if self._waiting >= MAX_WAITING:
            raise Refused(503, "busy", "too many uploads at once: wait a moment", retry_after=1)
        self._waiting += 1
        self.metrics.waiting.set(self._waiting)
        try:
            return await run_in(self.pool, self._encode, content, model)
        finally:
            self._waiting -= 1
            self.metrics.waiting.set(self._waiting)

    def _encode(self, content: bytes, model: Model) -> Codes:
        begun = time.perf_counter()
        used = model.used
        if not used.takes_pictures:
            raise Refused(422, "bad_request", "this collection holds no pictures: search by id or code")
        self._check_size(content)
        try:
            pixels = decode_file(content, used.code_size)
        except BrokenImage as error:
            raise Refused(415, "unsupported", str(error)) from error
        items = Items(Upload(pixels, content), ["upload"])
        code: Codes = model.encode(items, keep=False, progress=False).codes[0]
        self.metrics.encoding.observe(time.perf_counter() - begun)
        return code

    def _check_size(self, content: bytes) -> None:
        """Refuse a picture of too many pixels by its header."""
        try:
            width, height = opened(content, lambda image: image.size)
        except BrokenImage as error:
            if isinstance(error.__cause__, Image.DecompressionBombError):
                raise Refused(413, "too_large", "the picture has far too many pixels") from error
            raise Refused(415, "unsupported", "this is no picture in a format that is read") from error
        if width * height > self.limits.pixels:
            most = f"at most {self.limits.pixels:,}"
            raise Refused(413, "too_large", f"the picture has {width} x {height} pixels, {most} are taken")

    def close(self) -> None:
        """Drop what waits."""
        self.pool.shutdown(wait=False, cancel_futures=True)
