"""What happened to a job, a line each, in a file that only grows. Whoever dies, what was written stays."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "progress.jsonl"


@dataclass(frozen=True)
class Line:
    """One thing that happened.

    Attributes:
        number: 1, 2, 3, ...
        kind: "state" or "progress".
        facts: what there is to say.
    """

    number: int
    kind: str
    facts: Mapping[str, Any]


class Journal:
    """The file of one job. One process at a time writes it: the job while it lives, then the server.

    Args:
        folder: of the job.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def write(self, kind: str, **facts: Any) -> None:
        """Append a line. A change of state is on disk when this returns."""
        text = json.dumps({"kind": kind, "at": round(time.time(), 3), **facts}, allow_nan=False)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            whole = not size or os.pread(descriptor, 1, size - 1) == b"\n"  # or a writer died in a line
            os.write(descriptor, f"{'' if whole else chr(10)}{text}\n".encode())
            if kind == "state":
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self, after: int = 0) -> list[Line]:
        """All lines after this number. One that is not whole is passed over, but has its number."""
        try:
            lines = self.path.read_bytes().split(b"\n")[:-1]  # the last one is empty, or not whole yet
        except FileNotFoundError:
            return []
        return [
            line
            for number, text in enumerate(lines[after:], start=after + 1)
            if (line := parse(number, text))
        ]


def parse(number: int, text: bytes) -> Line | None:
    """A line, if it is one."""
    try:
        facts = json.loads(text)
        return Line(number, facts.pop("kind"), facts)
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
