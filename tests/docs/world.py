"""What the pages take for granted: a folder with pictures, pairs, embeddings and a query."""

from pathlib import Path

import numpy as np
from PIL import Image

SCENES = ("beach", "forest", "city")
EACH = 12
SIDE = 32  # a network looks at three times that, which is most of what a page costs


def scene(name: str, rng: np.random.Generator) -> Image.Image:
    """A little landscape; horizon, light and grain differ from picture to picture."""
    pixels = np.empty((SIDE, SIDE, 3))
    horizon = int(rng.integers(SIDE // 3, SIDE // 2))
    pixels[:horizon] = np.linspace((90, 150, 230), (190, 215, 245), horizon)[:, None]
    if name == "beach":
        pixels[horizon:] = (40, 110, 170)
        pixels[int(rng.integers(horizon + 8, SIDE - 8)) :] = (225, 200, 150)
    elif name == "forest":
        pixels[horizon // 2 :] = (40, 110, 50)
        for left in rng.integers(0, SIDE - 4, 8):
            pixels[horizon // 2 :, left : left + 3] = (70, 50, 30)
    else:
        pixels[horizon:] = (90, 90, 95)
        for left in range(2, SIDE - 12, 15):
            roof = int(rng.integers(8, horizon))
            pixels[roof:, left : left + 12] = (130, 120, 115)
            pixels[roof + 2 :: 6, left + 2 : left + 10 : 4] = (250, 235, 150)
    pixels = pixels * rng.uniform(0.85, 1.1) + rng.normal(0, 8, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def make_world(folder: Path) -> None:
    """Write ``photos/``, ``pairs.csv``, ``query.jpg``, ``embeddings.npy`` and ``labels.npy``."""
    rng = np.random.default_rng(0)
    names, kinds = [], []
    for kind, place in enumerate(SCENES):
        (folder / "photos" / place).mkdir(parents=True)
        for number in range(EACH):
            names.append(f"{place}/{number:02}.jpg")
            kinds.append(kind)
            scene(place, rng).save(folder / "photos" / names[-1])
    scene("beach", rng).save(folder / "query.jpg")
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, len(names), (150, 2)).tolist()}
    rows = [f"{names[a]},{names[b]},{int(kinds[a] == kinds[b])}" for a, b in sorted(pairs) if a != b]
    (folder / "pairs.csv").write_text("\n".join(["a,b,similar", *rows]) + "\n")
    labels = np.arange(240) % len(SCENES)
    vectors = 3 * np.eye(len(SCENES), 32)[labels] + rng.normal(size=(240, 32))
    np.save(folder / "embeddings.npy", vectors.astype(np.float32))
    np.save(folder / "labels.npy", labels)
