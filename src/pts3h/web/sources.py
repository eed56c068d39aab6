"""Where the items of an index come from, to encode them anew: an index knows the files of its pictures."""

from pathlib import Path
from typing import Any

from ..data.images import ImageFiles
from ..data.items import Items
from ..errors import UserError
from ..index.contract import Index
from ..index.engines import open_index
from ..indexing import picture_of, visible
from ..model.model import Model

GET = 512  # items whose metadata is read at once


def new_index(model: Model, address: str) -> Index:
    """An index for the codes of a model; it is made if it is not there."""
    layout = model.layout
    return open_index(
        address, layout.meaning, look_bits=layout.look, weight=layout.weight, model=model.fingerprint
    )


def pictures_of(index: Index) -> tuple[Items, dict[str, dict[str, Any]]]:
    """The pictures of an index as items, in the order of their ids, and the user's metadata of each."""
    found: list[tuple[str, Path, dict[str, Any]]] = []
    for ids, _ in index.scan(GET):
        for item in index.get(ids):
            path = None if item is None else picture_of(item.meta)
            if item is not None and path is not None:
                found.append((str(item.id), path, visible(item.meta)))
    if not found:
        raise UserError("no item has a picture that still is where it was")
    found.sort(key=lambda one: one[0])
    meta = {name: values for name, _, values in found if values}
    return Items(ImageFiles([path for _, path, _ in found]), [name for name, _, _ in found]), meta
