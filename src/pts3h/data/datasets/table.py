"""The data sets of the field, by name; your own is one more row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import UserError
from ...util.table import Table
from ...util.table import load as find_loader
from ..splits import Protocol
from . import cifar10, digits, fashion_mnist, imagenet100, mosaic, nuswide21
from .dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class DataSetRow:
    """All there is to say about a data set.

    Attributes:
        name: what settings and the command line call it.
        help: one line for people.
        protocol: how it is split into queries, labelled items and database.
        load: loads it: something to call, or where it is ("package.module:name"). It gets the folder where
            the user keeps the data set (None for none) and how many items are wanted (None for all). A data
            set that is read may return all its items, whatever the count: they are sampled afterwards.
    """

    name: str
    help: str
    protocol: Protocol
    load: str | Callable[[Path | None, int | None], Dataset]


DATASETS = Table(
    "data set",
    DataSetRow,
    [
        DataSetRow(
            name="cifar10",
            help="60,000 colour pictures of 10 classes, downloaded",
            protocol=cifar10.PROTOCOL,
            load=cifar10.load_cifar10,
        ),
        DataSetRow(
            name="fashion-mnist",
            help="70,000 grey pictures of 10 kinds of clothing, downloaded",
            protocol=fashion_mnist.PROTOCOL,
            load=fashion_mnist.load_fashion_mnist,
        ),
        DataSetRow(
            name="digits",
            help="1,797 tiny grey digits, from scikit-learn",
            protocol=digits.PROTOCOL,
            load=digits.load_digits,
        ),
        DataSetRow(
            name="mosaic",
            help="mosaics of four CIFAR-10 pictures with one to three classes each",
            protocol=mosaic.PROTOCOL,
            load=mosaic.load_mosaic,
        ),
        DataSetRow(
            name="nuswide21",
            help="NUS-WIDE with its 21 most frequent concepts, from your own copy",
            protocol=nuswide21.PROTOCOL,
            load=nuswide21.load_nuswide21,
        ),
        DataSetRow(
            name="imagenet100",
            help="100 classes of ImageNet, from your own copy",
            protocol=imagenet100.PROTOCOL,
            load=imagenet100.load_imagenet100,
        ),
    ],
)


def load_dataset(
    given: str | DataSetRow, folder: Path | str | None = None, count: int | None = None
) -> Dataset:
    """Load a data set, downloading it first where that is possible.

    Args:
        given: a name in DATASETS, or a row of your own.
        folder: where you keep it: the archive of CIFAR-10 (or its folder), the four files of Fashion-MNIST,
            or for NUS-WIDE-21 and ImageNet-100 the folder with list files and images.
        count: how many items to use; None for all.
    """
    row = DATASETS.find(given)
    data = find_loader(row.load)(None if folder is None else Path(folder), count)
    if not isinstance(data, Dataset) or data.items.labels is None:
        raise UserError(f"the data set {row.name} must load as a Dataset whose items have labels")
    return replace(data, name=row.name, protocol=row.protocol).at_most(count)  # the row has the last word
