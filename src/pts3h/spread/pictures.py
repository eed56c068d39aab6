"""Pictures whose files are in memory, out of a table, a tar or a store."""

from collections.abc import Sequence

import numpy as np

from ..cache.rows import NOWHERE
from ..cache.segment import Key
from ..data.decoding import decode_file, image_size, picture_key
from ..data.images import ImageArray, Loaded, Positions, decoders
from ..errors import BrokenImage
from ..util.progress import Progress


class ImageContents(ImageArray):
    """Pictures by the content of their files, decoded as files are.

    Args:
        names: what messages call them.
        contents: of each file its bytes, or the reason why there are none.
    """

    def __init__(self, names: Sequence[str], contents: Sequence[bytes | str]) -> None:
        super().__init__(np.empty((len(contents), 0, 0, 3), np.uint8))
        self.names, self.contents = list(names), list(contents)

    def load(self, positions: Positions, size: int) -> Loaded:
        """Decode the pictures at ``positions``, short side scaled to ``size``, centre cut out."""
        pixels = np.zeros((len(positions), 3, size, size), np.uint8)
        broken: dict[int, str] = {}

        def decode(place: int) -> None:
            content, name = self.contents[positions[place]], self.names[positions[place]]
            try:
                if isinstance(content, str):
                    raise BrokenImage(content)
                pixels[place] = decode_file(content, size)
            except BrokenImage as error:
                broken[place] = f"{name}: {str(error).removeprefix('the picture: ')}"

        list(decoders().map(decode, range(len(positions))))
        return Loaded(pixels, dict(sorted(broken.items())))

    def typical_side(self) -> int:
        """Median short side."""
        sizes = [image_size(content) for content in self.contents if isinstance(content, bytes)]
        sides = [min(size) for size in sizes if size is not None]
        return int(np.median(sides)) if sides else 0

    def subset(self, positions: Positions) -> "ImageContents":
        """Only the pictures at ``positions``."""
        return ImageContents([self.names[p] for p in positions], [self.contents[p] for p in positions])

    def keys(self, progress: Progress = None) -> list[Key]:
        """A digest of each content: a picture whose file is known has its features already."""
        return [picture_key(one) if isinstance(one, bytes) else NOWHERE for one in self.contents]
