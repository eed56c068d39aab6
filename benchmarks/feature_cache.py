"""Features that are kept: what new pictures cost, and how long it takes to gather the known ones.

python benchmarks/feature_cache.py [folder for 2 GB, by default a temporary one]
"""

from timing import race  # isort: skip

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from pts3h.cache.rows import Kind, find
from pts3h.data.images import ImageFiles
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.feature_cache import FrozenBackbone

KNOWN, NEW, SIDE, SIZE = 10_000, 100, 256, 96
ROWS, PARTS, WIDTH = 60_000, 4, 1280
BATCH, STEPS = 128, 200


def say(what: str, seconds: float) -> None:
    print(f"  {what:<70} {seconds:8.3f} s")


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
    every = np.arange(KNOWN)
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
        say(f"{what}: {backbone.count:,} computed", took)
    keys, size = known.keys(), sum(path.stat().st_size for path in known.paths)
    sides: dict[str, Callable[[], object]] = {
        "digests of unchanged files": known.keys,
        f"digests by reading every file, {size / 1e6:.0f} MB in memory": lambda: known.changed(every, keys),
    }
    for what, seconds in race(sides).items():
        say(what, seconds)


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
    turned = [keys[place] for place in order]

    def gathered(wanted: list[bytes]) -> NDArray[np.float16]:
        return find(kind.segments(), wanted).array(PARTS, WIDTH)

    ways: dict[str, Callable[[], NDArray[np.float16]]] = {
        "one file mapped, as before": lambda: np.load(folder / "old.npy", mmap_mode="r"),
        "in the order of the cache: find, check, map": lambda: find(kind.segments(), keys).array(
            PARTS, WIDTH
        ),
        "in another order: find, check, copy": partial(gathered, turned),
    }
    for what, seconds in race(ways, seconds=30).items():
        say(what, seconds)
    old, mapped, copied = (way() for way in ways.values())
    assert (mapped[::97] == old[::97]).all() and (copied[::97] == old[order[::97]]).all()
    steps = {what: partial(batches, array) for what, array in zip(ways, (old, mapped, copied), strict=True)}
    for what, seconds in race(steps).items():
        say(f"{STEPS} batches of 2 x {BATCH} vectors, {what.partition(':')[0]}", seconds)


def batches(array: NDArray[np.float16]) -> None:
    """What training reads."""
    draws = np.random.default_rng(1)
    for _ in range(STEPS):
        array[draws.integers(ROWS, size=2 * BATCH), draws.integers(PARTS, size=2 * BATCH)]


def main() -> None:
    for measure in (gather, new_pictures):
        with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as name:
            os.environ["PTS3H_CACHE"] = str(Path(name) / "cache")
            measure(Path(name))


if __name__ == "__main__":
    main()
