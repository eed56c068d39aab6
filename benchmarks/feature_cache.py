"""Features that are kept: what new pictures cost, and how long it takes to gather the known ones.

python benchmarks/feature_cache.py [folder for 2 GB, by default a temporary one]
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from torch import Tensor

from pts3h.cache.rows import Kind, find
from pts3h.data.images import ImageFiles
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.feature_cache import FrozenBackbone

KNOWN, NEW, SIDE, SIZE = 10_000, 100, 256, 96
ROWS, PARTS, WIDTH = 60_000, 4, 1280
BATCH, STEPS = 128, 200


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"  {what:<58} {time.perf_counter() - start:8.2f} s")


class Counted(FrozenBackbone):
    """Counts the pictures that go through it."""

    count = 0

    def __call__(self, images: Tensor) -> Tensor:
        self.count += len(images)
        return super().__call__(images)


def new_pictures(folder: Path) -> None:
    """Clean features of a folder that grows by a hundred pictures."""
    rng = np.random.default_rng(0)
    print(f"{KNOWN:,} known pictures, {NEW} new ones, efficientnet-lite0 at {SIZE} px")
    (folder / "photos").mkdir()
    for number in range(KNOWN + NEW):
        coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8))
        # the new ones lie between the others, as new photos in a folder do
        name = f"{number:05}.jpg" if number < KNOWN else f"{97 * (number - KNOWN):05}b.jpg"
        coarse.resize((SIDE, SIDE)).save(folder / "photos" / name, quality=90)
    paths = sorted((folder / "photos").iterdir())
    known = ImageFiles([path for path in paths if not path.stem.endswith("b")])
    time.sleep(2.5)  # files of a moment ago are read every time
    backbone = Counted(build_backbone("efficientnet-lite0")[0], name="efficientnet-lite0")
    for what, files in (
        ("all for the first time", known),
        ("all known", known),
        ("all known, other order", known.subset(np.random.default_rng(0).permutation(KNOWN))),
        ("with the new ones", ImageFiles(paths)),
        ("with the new ones, all known", ImageFiles(paths)),
    ):
        backbone.count = 0
        start = time.perf_counter()
        backbone.clean(files, size=SIZE, progress="lines" if what.endswith("time") else False)
        took = time.perf_counter() - start
        print(f"  {what:<36} {backbone.count:>6,} computed {took:>14.2f} s")
    with timed("digests of unchanged files"):
        keys = known.keys()
    size = sum(path.stat().st_size for path in known.paths)
    with timed(f"digests by reading every file, {size / 1e6:.0f} MB that were read before"):
        known.changed(np.arange(KNOWN), keys)


def gather(folder: Path) -> None:
    """A collection as an array for training, against one file that is mapped as it is."""
    print(f"{ROWS:,} x {PARTS} x {WIDTH} half floats, {ROWS * PARTS * WIDTH * 2 / 1e6:.0f} MB, read before")
    kind, rng = Kind(folder / "kind", PARTS, WIDTH), np.random.default_rng(0)
    keys = [rng.bytes(32) for _ in range(ROWS)]
    array = np.lib.format.open_memmap(folder / "old.npy", "w+", np.float16, (ROWS, PARTS, WIDTH))
    with kind.filling(ROWS) as appender:
        for start in range(0, ROWS, 1000):
            some = rng.standard_normal((1000, PARTS, WIDTH), np.float32).astype(np.float16)
            array[start : start + 1000] = some
            appender.append(keys[start : start + 1000], some)
    array.flush()
    order = rng.permutation(ROWS)
    with timed("one file mapped, as before: open"):
        old = np.load(folder / "old.npy", mmap_mode="r")
    with timed("in the order of the cache: find, check, map"):
        mapped = find(kind.segments(), keys).array(PARTS, WIDTH)
    with timed("in another order: find, check, copy"):
        copied = find(kind.segments(), [keys[place] for place in order]).array(PARTS, WIDTH)
    assert (mapped[::97] == old[::97]).all() and (copied[::97] == old[order[::97]]).all()
    for name, source in (("one file mapped, as before", old), ("mapped", mapped), ("copied", copied)):
        with timed(f"{STEPS} batches of 2 x {BATCH} vectors: {name}"):
            draws = np.random.default_rng(1)
            for _ in range(STEPS):
                source[draws.integers(ROWS, size=2 * BATCH), draws.integers(PARTS, size=2 * BATCH)]


def main() -> None:
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as name:
        os.environ["PTS3H_CACHE"] = str(Path(name) / "cache")
        gather(Path(name))
        new_pictures(Path(name))


if __name__ == "__main__":
    main()
