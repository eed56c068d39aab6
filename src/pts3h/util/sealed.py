"""Values with a checksum over themselves: in JSON, a bit that flips turns a number into another one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEAL = "checksum"


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same with a checksum, to be written as JSON."""
    return {**value, SEAL: _checksum(value)}


def unsealed(value: Any) -> dict[str, Any]:
    """What was sealed; ValueError if it is something else now. What earlier versions wrote has no seal."""
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    rest = {name: one for name, one in value.items() if name != SEAL}
    if SEAL in value and value[SEAL] != _checksum(rest):
        raise ValueError("its checksum is not that of its content")
    return rest


def _checksum(value: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps(value))  # as it will be read: names of numbers are text
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]
