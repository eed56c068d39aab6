"""pts3h doctor: what this installation can do."""

import json

from ..doctor import diagnose
from .output import AsJson

EXAMPLE = "pts3h doctor"


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, which search kernel is active, and why."""
    diagnosis = diagnose()
    print(json.dumps(diagnosis.as_dict()) if as_json else diagnosis)
