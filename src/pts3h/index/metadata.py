"""What the metadata of an item may be, the same on every engine: a dict of JSON values of limited size."""

import json
from collections.abc import Iterable, Mapping
from reprlib import repr as shown
from typing import Any

from ..errors import UserError
from .filters import SCALARS, as_scalar, check_key

Meta = dict[str, Any]

MAX_META_BYTES = 65_536  # what Milvus holds
MAX_NESTING = 32


def check_meta(meta: Iterable[Mapping[str, Any] | None] | None, n: int) -> list[Meta]:
    """Return one plain dict per item, n in all, else raise."""
    if meta is None:
        return [{}] * n
    if isinstance(meta, (Mapping, str)) or not isinstance(meta, Iterable):
        raise UserError(f"meta must be a list with a dict (or None) for each item, got {type(meta).__name__}")
    rows = [{} if row is None else row for row in meta]
    if len(rows) != n:
        raise UserError(f"add needs one meta dict for each id, got {n} ids and {len(rows)} dicts")
    clean: list[Meta] = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise UserError(f"meta must be a dict (or None) for each item, got {shown(row)}")
        clean.append({check_key(key): _plain(value, key, 0) for key, value in row.items()})
    return clean


def _plain(value: Any, key: str, depth: int) -> Any:
    """``value`` as JSON can hold it exactly, numpy scalars made plain."""
    scalar = as_scalar(value)
    if scalar is not None or value is None:
        return scalar
    if depth == MAX_NESTING and isinstance(value, (list, tuple, Mapping)):
        raise UserError(f"meta {key!r} is nested more than {MAX_NESTING} deep; write it flatter")
    if isinstance(value, (list, tuple)):
        return [_plain(part, key, depth + 1) for part in value]
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str) or as_scalar(name) is None:
                raise UserError(
                    f"meta {key!r} has a dict with the name {shown(name)}; dicts inside metadata have names "
                    "that are text (valid Unicode, no NUL)"
                )
        return {name: _plain(part, key, depth + 1) for name, part in value.items()}
    raise UserError(f"meta {key!r} must be {SCALARS}, null, or lists and dicts of these, got {shown(value)}")


def as_json(one: int | str, meta: Meta) -> str:
    """Checked metadata of the item ``one`` as JSON, else raise: there is a largest size."""
    text = json.dumps(meta, ensure_ascii=False)
    if 4 * len(text) > MAX_META_BYTES and (size := len(text.encode())) > MAX_META_BYTES:
        raise UserError(
            f"the metadata of an item takes at most {MAX_META_BYTES:,} bytes as JSON; that of {one!r} has "
            f"{size:,}: keep long texts elsewhere"
        )
    return text
