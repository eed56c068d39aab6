"""Addresses: what may be a password stays out of messages, and off the wire where others can read it."""

import os
import re
from ipaddress import ip_address
from pathlib import Path

_QUERY = re.compile(r"[?#].*", re.DOTALL)
_PASSWORD = re.compile(r"://[^@]*:.*@|[?&]password=", re.DOTALL)


def shown_address(address: str | Path) -> str:
    """An address without user, password, query and fragment, as messages may show it. A path stays."""
    text = os.fspath(address)
    scheme, found, rest = text.partition("://")
    if not found:
        return text
    before, at, place = rest.rpartition("@")
    if _QUERY.search(before):  # a password with ? or #, or a query with @: all of it may be secret
        return f"{scheme}://..."
    return f"{scheme}://{'...@' if at else ''}{_QUERY.sub(lambda query: query[0][0] + '...', place)}"


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
