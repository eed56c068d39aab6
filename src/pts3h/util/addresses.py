"""Addresses: what may be a password stays out of messages, and off the wire where others can read it."""

import os
import re
from ipaddress import ip_address
from pathlib import Path

_SECRETS = re.compile(r"://.*@|[?#].*", re.DOTALL)
_PASSWORD = re.compile(r"://[^@]*:.*@|[?&]password=", re.DOTALL)


def shown_address(address: str | Path) -> str:
    """An address without user, password, query and fragment, as messages may show it. A path stays."""
    text = os.fspath(address)
    if "://" not in text:
        return text
    return _SECRETS.sub(lambda found: "://...@" if found[0].startswith(":") else f"{found[0][0]}...", text)


def has_password(address: str) -> bool:
    """Whether an address may hold a password, so that it should not be written into a file."""
    return _PASSWORD.search(address) is not None


def on_this_machine(host: str) -> bool:
    """Whether what is sent to a host never leaves this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False
