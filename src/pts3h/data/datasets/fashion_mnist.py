"""Fashion-MNIST: 70,000 grey pictures of ten classes, from its download or Debian's package."""

import gzip
import tempfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from ..splits import Protocol
from .dataset import Dataset
from .download import download, run_tool
from .in_memory import Raw, array_dataset, kept, three_colours

CLASSES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
PROTOCOL = Protocol(queries=100, labelled=500)
ADDRESS = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
MD5 = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
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
        files = [download(ADDRESS + name, digest=f"md5:{md5}") for name, md5 in MD5.items()]
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
