"""Fashion-MNIST: 70,000 grey pictures of ten classes, from its download or Debian's package."""

import gzip
import tempfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ...util.download import download, run_tool
from ..splits import Protocol
from .dataset import Dataset
from .in_memory import Raw, array_dataset, kept, three_colours

CLASSES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
PROTOCOL = Protocol(queries=100, labelled=500)
ADDRESS = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
SHA256 = {
    "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
}
DEBIAN = "dataset-fashion-mnist"
FOLDER = Path("/usr/share/datasets/fashion-mnist")  # where that package puts it


def load_fashion_mnist(folder: Path | None, _count: int | None) -> Dataset:
    """All 70,000 pictures."""
    return array_dataset("fashion-mnist", kept("fashion-mnist", folder, get_fashion_mnist), CLASSES, PROTOCOL)


def get_fashion_mnist(folder: Path | None) -> Raw:
    """70,000 grey pictures, training first: from a folder, the canonical download, or Debian's package."""
    if folder is not None:
        return read_folder(folder)
    if FOLDER.is_dir():
        return read_folder(FOLDER)
    try:
        files = [download(ADDRESS + name, sha256=sha256) for name, sha256 in SHA256.items()]
        return read_folder(files[0].parent)
    except UserError as error:
        try:
            return get_debian()
        except UserError as second:
            raise UserError(
                f"cannot get Fashion-MNIST ({error}; {second}): name a folder that holds its four files"
            ) from second


def get_debian() -> Raw:
    """Debian's package, unpacked without installing it."""
    with tempfile.TemporaryDirectory() as folder:
        run_tool(["apt-get", "download", DEBIAN], Path(folder))
        run_tool(["dpkg-deb", "-x", *map(str, Path(folder).glob("*.deb")), "."], Path(folder))
        return read_folder(Path(folder) / FOLDER.relative_to("/"))


def read_folder(folder: Path) -> Raw:
    """The four gzipped idx files."""
    parts = [
        [read_idx(folder / f"{part}-{kind}-ubyte.gz") for part in ("train", "t10k")]
        for kind in ("images-idx3", "labels-idx1")
    ]
    return three_colours(np.concatenate(parts[0])), np.concatenate(parts[1]).astype(np.int64)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An idx file of bytes: magic, sizes, values."""
    try:
        content = gzip.decompress(path.read_bytes())
        axes = content[3]
        shape = np.frombuffer(content, ">u4", axes, offset=4)
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
    except (zlib.error, OSError, ValueError, IndexError, EOFError) as error:
        raise UserError(f"cannot read {path} ({error})") from error
