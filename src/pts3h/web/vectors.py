"""Vectors whose cosines say how alike items are: a model's real outputs where they are kept, else codes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, Layout, unpack
from ..data.items import Items, load_array
from ..errors import UserError
from ..model.model import Model
from ..util.files import array_writer, text_writer, write_together

IDS, ROWS = "outputs.json", "outputs.npy"


def as_vectors(codes: Codes, layout: Layout) -> NDArray[np.float32]:
    """(n, bits) signs, scaled by how much a bit counts."""
    scale = np.where(np.arange(layout.bits) < layout.meaning, np.sqrt(layout.weight), 1)
    return np.asarray(unpack(codes, layout.bits) * scale, np.float32)


def keep_outputs(model: Model, items: Items, folder: Path) -> None:
    """Write a model's outputs of all items that can be read into the folder of its generation."""
    rows, broken = model.outputs(items, progress=False)
    kept = [place for place in range(len(items)) if place not in broken]
    ids = json.dumps([items.ids[place] for place in kept])
    write_together(
        {folder / ROWS: array_writer(rows[kept].astype(np.float16)), folder / IDS: text_writer(ids)}
    )


def kept_outputs(folder: Path) -> tuple[Sequence[str], NDArray[Any]] | None:
    """Ids and outputs (n, bits) that were kept; None where there are none."""
    try:
        ids = json.loads((folder / IDS).read_text(encoding="utf-8"))
        rows = load_array(folder / ROWS)
    except (OSError, ValueError, UserError):
        return None
    return (ids, rows) if len(ids) == len(rows) else None
