"""The digits of scikit-learn: 1,797 grey pictures of 8 x 8 pixels. Nothing to download, and very small."""

from pathlib import Path

import numpy as np

from ...errors import UserError
from ..splits import Protocol
from .dataset import Dataset
from .in_memory import Raw, array_dataset, three_colours

CLASSES = tuple("0123456789")
PROTOCOL = Protocol(queries=20, labelled=10)


def load_digits(_folder: Path | None, _count: int | None) -> Dataset:
    """All 1,797 digits."""
    return array_dataset("digits", get_digits(), CLASSES, PROTOCOL)


def get_digits() -> Raw:
    """The digits as scikit-learn has them, in bytes."""
    try:
        from sklearn.datasets import load_digits as load
    except ImportError as error:
        raise UserError(
            "the digits are part of scikit-learn, which is not installed: pip install scikit-learn"
        ) from error
    digits = load()
    return three_colours((digits.images * (255 / 16)).astype(np.uint8)), digits.target.astype(np.int64)
