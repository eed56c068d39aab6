"""NUS-WIDE-21: pictures of Flickr with one or more of 21 concepts, of which the user has a copy."""

from pathlib import Path

from ..splits import Protocol
from .dataset import Dataset
from .list_files import list_dataset

PROTOCOL = Protocol(queries=100, labelled=500, map_at=5000)


def load_nuswide21(folder: Path | None, _count: int | None) -> Dataset:
    """All of its list files."""
    return list_dataset("nuswide21", folder, PROTOCOL)
