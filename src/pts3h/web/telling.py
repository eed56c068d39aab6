"""How far a job is: steps, losses, time left, told as often as someone can look."""

import time
from typing import Any

from ..model.model import Record
from .journal import Journal

SECONDS_BETWEEN = 0.5  # two lines of the same phase
POINTS = 300  # of a curve
PHASES = {"files": "features", "features": "features", "checking": "training", "training": "training"}
NO_LOSS = ("step", "threshold", "held_out", "learning_rate", "omega")
NAMES = {"threshold": "thr", "held_out": "held_out"}  # as they are told


class Teller:
    """Writes progress into a journal.

    Args:
        journal: of the job.
        state: of the job at the beginning.
    """

    def __init__(self, journal: Journal, state: str) -> None:
        self.journal, self.state = journal, state
        self.phase, self.total = "", 0
        self.begun = self.told = 0.0
        self.first = 0  # how many were done when the phase began

    def listen(self, what: str, done: int, total: int) -> None:
        """So many of so many are done."""
        now = time.monotonic()
        if what != self.phase:
            self._enter(what, done, now)
        elif done < total and now - self.told < SECONDS_BETWEEN:
            return
        elif what == "training":
            return  # each of its steps has a record
        self._tell(what, done, total, now)

    def watch(self, record: Record) -> None:
        """A step of the run that counts."""
        now, step, steps = time.monotonic(), int(record["step"]), self.total
        every = max(1, steps // POINTS)
        if step % every == 0 or step == steps or "held_out" in record:
            losses = {name: value for name, value in record.items() if name not in NO_LOSS}
            extra: dict[str, Any] = {"losses": losses}
            extra |= {told: record[name] for name, told in NAMES.items() if name in record}
            self._tell("training", step, steps, now, **extra)

    def _enter(self, what: str, done: int, now: float) -> None:
        self.phase, self.begun, self.first = what, now, done
        state = PHASES.get(what, self.state)
        if state != self.state:
            self.state = state
            self.journal.write("state", state=state)

    def _tell(self, what: str, done: int, total: int, now: float, **more: Any) -> None:
        self.told, self.total = now, total
        counted = done - self.first
        left = None
        if counted > 0 and now > self.begun:
            each = (now - self.begun) / counted
            left = round(each * (total - done + (total if what == "checking" else 0)), 1)
        self.journal.write("progress", phase=what, step=done, steps=total, seconds_left=left, **more)
