"""ImageNet-100: a hundred classes of ImageNet, of which the user has a copy."""

from pathlib import Path

from ..splits import Protocol
from .dataset import Dataset
from .list_files import list_dataset

# its queries are validation images, which a list file of their own names
PROTOCOL = Protocol(queries=50, labelled=130, map_at=1000)


def load_imagenet100(folder: Path | None, _count: int | None) -> Dataset:
    """All of its list files."""
    return list_dataset("imagenet100", folder, PROTOCOL)
