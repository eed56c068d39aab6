"""Metadata as JSON text, in formats that have a column for it: null for none."""

import json
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..index.metadata import Meta, as_json
from .items import Batch


def meta_texts(batch: Batch) -> list[str | None]:
    """The metadata of each item."""
    if batch.meta is None:
        return [None] * len(batch.ids)
    return [as_json(one, meta) if meta else None for one, meta in zip(batch.ids, batch.meta, strict=True)]


def read_meta_text(text: Any, one: Any, path: Path | str) -> Meta:
    """The metadata of the item ``one`` in the file ``path``, else raise."""
    try:
        meta = {} if text is None else json.loads(text)
        if not isinstance(meta, dict):
            raise ValueError("it is no JSON object")
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"the metadata of {one!r} in {path} cannot be read: {error}") from error
    return meta
