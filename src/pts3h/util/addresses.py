"""Addresses in messages: what may be a password stays out of them."""

import os
import re
from pathlib import Path

_SECRETS = re.compile(r"://.*@|[?#].*", re.DOTALL)


def shown_address(address: str | Path) -> str:
    """An address without user, password, query and fragment, as messages may show it. A path stays."""
    text = os.fspath(address)
    if "://" not in text:
        return text
    return _SECRETS.sub(lambda found: "://...@" if found[0].startswith(":") else f"{found[0][0]}...", text)
