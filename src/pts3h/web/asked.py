"""What clients ask for, checked: filters, codes, bounds of a search."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..codes import By, Codes, Layout, check_codes
from ..index.filters import parse_where as check_where
from .errors import Refused, refusing
from .limits import Limits, check_depth


def bad(message: str) -> Refused:
    """Something that cannot be asked for."""
    return Refused(422, "bad_request", message)


def parse_where(text: str | None, limits: Limits) -> dict[str, Any] | None:
    """A filter from a query string."""
    if text is None:
        return None
    check_depth(text.encode(errors="replace"), limits.depth)
    try:
        where = json.loads(text)
    except ValueError:
        raise bad('where must be JSON such as {"colour": "red"}') from None
    with refusing():
        check_where(where)
    if where is None:
        raise bad("where is null: leave it out to take every item")
    checked: dict[str, Any] = where
    return checked


def check_window(k: int, offset: int, limits: Limits) -> None:
    """Refuse more hits than a search may find."""
    if k > limits.k:
        raise bad(f"k is at most {limits.k:,}")
    if offset + k > limits.window:
        raise bad(f"offset + k is at most {limits.window:,}: search for something nearer")


def check_distance(radius: int | None, by: By, layout: Layout, largest: int) -> None:
    """Refuse a radius that reaches too far, and bits that the codes do not have."""
    with refusing():
        most = min(largest, layout.farthest(by))
    if radius is not None and radius > most:
        raise bad(f"radius is at most {most} here")


def check_count(count: int, limits: Limits) -> None:
    """Refuse more queries than one request may hold."""
    if count > limits.queries:
        raise bad(f"at most {limits.queries:,} queries at a time")


def codes_from(texts: Sequence[str], layout: Layout) -> Codes:
    """(n, bytes) codes from hexadecimal text."""
    width = (layout.bits + 7) // 8
    if any(len(text) != 2 * width for text in texts):
        raise bad(f"codes of {layout} have {2 * width} hexadecimal digits")
    codes = np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), width)
    with refusing():
        return check_codes(codes, layout.bits)
