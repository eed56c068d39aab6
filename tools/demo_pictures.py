"""Write some pictures of CIFAR-10 into a folder, for ``make serve``.

    python tools/demo_pictures.py demo-pictures [--count 2000]

Pictures that are there stay as they are, so that nothing is indexed again.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from pts3h.data.datasets.table import load_dataset

COUNT = 2_000


def write_pictures(folder: Path, count: int = COUNT) -> dict[str, int]:
    """Write those that are missing; the class of each by its name."""
    data = load_dataset("cifar10")
    images = data.items.images
    assert images is not None
    folder.mkdir(parents=True, exist_ok=True)
    chosen = np.sort(np.random.default_rng(0).choice(len(images), count, replace=False))
    names = [f"{position:05}.png" for position in chosen]
    for name, pixels in zip(names, images.load(chosen, images.typical_side()).pixels, strict=True):
        if not (folder / name).exists():
            Image.fromarray(pixels.transpose(1, 2, 0)).save(folder / name)
    return dict(zip(names, data.labels[chosen].tolist(), strict=True))


def main() -> None:
    """As the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    asked = parser.parse_args()
    if len(list(asked.folder.glob("*.png"))) < asked.count:
        write_pictures(asked.folder, asked.count)


if __name__ == "__main__":
    main()
