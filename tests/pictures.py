"""Small pictures of three kinds, which any network can tell apart, and a server on this machine."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from PIL import Image

KINDS = ("red", "green", "stripes")


def picture(kind: int, rng: np.random.Generator, side: int = 32) -> np.ndarray:
    """(side, side, 3) bytes: red, green, or blue stripes, each with its own noise."""
    pixels = np.full((side, side, 3), 40)
    if kind == 2:
        pixels[::4, :, 2] = pixels[1::4, :, 2] = 230
    else:
        pixels[..., kind] = 200
    return np.clip(pixels + rng.integers(-30, 31, pixels.shape), 0, 255).astype(np.uint8)


def pictures(count: int, *, seed: int = 0, side: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """(count, side, side, 3) bytes and the kind of each, in turn."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(count) % 3
    return np.stack([picture(kind, rng, side) for kind in kinds]), kinds


def write_pictures(folder: Path, count: int, *, seed: int = 0, side: int = 32) -> np.ndarray:
    """Write ``00.png``, ``01.png``, ... and return their kinds."""
    folder.mkdir(parents=True, exist_ok=True)
    images, kinds = pictures(count, seed=seed, side=side)
    for number, pixels in enumerate(images):
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return kinds


def random_pairs(kinds: np.ndarray, count: int, *, seed: int = 0) -> np.ndarray:
    """(count, 3) different pairs of different items, with whether they are of one kind."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(kinds), k=1)
    chosen = rng.permutation(len(first))[:count]
    a, b = first[chosen], second[chosen]
    return np.column_stack([a, b, kinds[a] == kinds[b]])


def smooth(height: int, width: int) -> np.ndarray:
    """A picture without fine detail, which every way of scaling treats alike."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / width * 3 + c) + np.cos(y / height * 2 * c) for c in (1, 2, 3)]
    return np.stack([(wave + 2) * 63 for wave in waves], axis=2).astype(np.uint8)


@contextmanager
def serving(folder: Path):
    """The address of a web server for the files of ``folder``."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
