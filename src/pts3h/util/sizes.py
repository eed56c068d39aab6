"""Sizes as people write them: 5GB, 500 MB, 1.5TB."""

import re

from ..errors import UserError

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def parse_size(text: str, *, name: str) -> int:
    """ "5GB" → 5,000,000,000 bytes; ``name`` is what the user called it."""
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([KMGT]?B)\s*", text, re.IGNORECASE)
    if found is None:
        raise UserError(f"{name} must be a size such as 5GB or 500MB, got {text!r}")
    return round(float(found[1]) * UNITS[found[2].upper()])


def plain_size(size: int) -> str:
    """614,400,000 → "614 MB"."""
    unit = max((unit for unit in UNITS if UNITS[unit] <= size), key=UNITS.__getitem__, default="B")
    amount = size / UNITS[unit]
    return f"{amount:.1f} {unit}" if amount < 10 and unit != "B" else f"{amount:.0f} {unit}"
