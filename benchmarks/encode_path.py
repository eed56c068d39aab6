"""From JPEG files to codes on one machine: decoding alone, the network alone, and encode as a whole.

python benchmarks/encode_path.py [--pictures 1024] [--side 256]

Encoding can be as quick as the slower of the two alone if one works while the other does, and has a core to
work on. Processor time says what is left where others use the cores: there, both cost what they cost.
"""

from timing import race  # isort: skip

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import pts3h
from pts3h.data.datasets.table import load_dataset
from pts3h.data.images import ImageFiles
from pts3h.model.model import Model
from pts3h.nets.feature_cache import BATCH

SIZE = 96  # pixels that the network sees


def write_pictures(folder: Path, count: int, side: int) -> list[int]:
    """Pictures of CIFAR-10 as JPEG files of ``side`` pixels; the class of each."""
    data = load_dataset("cifar10")
    images = data.items.images
    assert images is not None
    chosen = np.random.default_rng(0).choice(len(images), count, replace=False)
    folder.mkdir(parents=True)
    for start in range(0, count, 1024):
        some = chosen[start : start + 1024]
        for place, pixels in enumerate(images.load(some, images.typical_side()).pixels):
            picture = Image.fromarray(pixels.transpose(1, 2, 0)).resize((side, side))
            picture.save(folder / f"{start + place:06}.jpg", quality=90)
    labels: list[int] = data.labels[chosen].tolist()
    return labels


def quick_model(folder: Path, labels: list[int], to: Path) -> Model:
    """A model for what it costs, not for how good it is."""
    some = sorted(folder.iterdir())[:300]
    hasher = pts3h.Hasher(bits=64, steps=20, image_size=SIZE, views=1, seed=0)
    hasher.fit(some, labels=np.array(labels[: len(some)]), progress=False)
    hasher.save(to)
    return pts3h.load_model(to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=1024)
    parser.add_argument("--side", type=int, default=256)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        labels = write_pictures(Path(place, "photos"), asked.pictures, asked.side)
        model = quick_model(Path(place, "photos"), labels, Path(place, "model"))
        os.environ["PTS3H_CACHE"] = f"{place}/cache"  # with features of none of them, of which fit keeps some
        files = ImageFiles(sorted(Path(place, "photos").iterdir()))
        frozen = model.networks.frozen
        assert frozen is not None
        batches = [np.arange(start, min(start + BATCH, len(files))) for start in range(0, len(files), BATCH)]
        ready = torch.from_numpy(files.load(batches[0], model.used.image_size).pixels).float().div_(255)

        def decode() -> None:
            for some in batches:
                files.load(some, model.used.image_size)

        def network() -> None:
            for some in batches:
                frozen(ready[: len(some)])
                if model.used.mirror:
                    frozen(ready[: len(some)].flip(3))

        def encode() -> None:
            model.encode(files.paths, keep=False, progress=False)

        sides = {"decoding alone": decode, "network alone": network, "encode": encode}
        best = race(sides, seconds=60)
        used = race(sides, seconds=15, clock=time.process_time)
    rates = {name: asked.pictures / seconds for name, seconds in best.items()}
    for name, rate in rates.items():
        each = 1e3 * used[name] / asked.pictures
        print(f"{name:<16} {rate:8.0f} pictures/s, {each:.2f} ms of processors each")
    slower = min(rates["decoding alone"], rates["network alone"])
    print(f"encode is {rates['encode'] / slower:.2f} of the slower one alone")
    share = max(used["decoding alone"], used["network alone"]) / used["encode"]
    print(f"by processor time {share:.2f}, which is what can be had without an idle core")


if __name__ == "__main__":
    main()
