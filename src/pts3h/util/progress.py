"""Progress with rate and time left: a bar for a terminal, lines for a log, told to a function, or nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Advance = Callable[[int], None]
Listener = Callable[[str, int, int], None]  # what is being done, how many are done, of how many
# whether to show it: None asks whether standard error is a terminal, "lines" is for logs
Progress = bool | Literal["lines"] | Listener | None

SECONDS_BETWEEN_LINES = 10.0


def bar_or_lines() -> Progress:
    """For what takes minutes: a bar on a terminal, lines where it goes to a file or another program."""
    return None if sys.stderr.isatty() else "lines"


@contextmanager
def bar(description: str, total: int, *, unit: str = "", progress: Progress = None) -> Iterator[Advance]:
    """Show progress while the block runs; call the yielded function with how many more are done.

    Args:
        description: what is being done, a few words.
        total: how many there are.
        unit: what is counted, for the rate ("images/s").
        progress: whether to show it, and how.
    """
    if callable(progress):
        yield Told(description, total, progress)
    elif progress == "lines":
        yield Lines(description, total, unit)
    elif progress or (progress is None and sys.stderr.isatty()):
        with drawn(description, total, unit) as advance:
            yield advance
    else:
        yield lambda _: None


class Told:
    """Tells someone who shows it in a way of their own."""

    def __init__(self, description: str, total: int, listener: Listener) -> None:
        self.description, self.total, self.listener = description, total, listener
        self.done = 0
        listener(description, 0, total)

    def __call__(self, more: int) -> None:
        """So many more are done."""
        self.done += more
        self.listener(self.description, self.done, self.total)


class Lines:
    """A line now and then: how far, how fast, how long still."""

    def __init__(self, description: str, total: int, unit: str) -> None:
        self.description, self.total, self.unit = description, total, unit
        self.done, self.counted = 0, 0
        self.started = self.said = time.monotonic()

    def __call__(self, more: int) -> None:
        """So many more are done; what was done before the start does not count for the rate."""
        now = time.monotonic()
        self.done += more
        if now - self.started > 0.05 or self.counted:
            self.counted += more
        if self.done < self.total and now - self.said < SECONDS_BETWEEN_LINES:
            return
        self.said = now
        print(self.line(now - self.started), file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        """What there is to say at this point."""
        far = f"{self.description}: {self.done:,} of {self.total:,} {self.unit}".rstrip()
        if self.done >= self.total:
            return f"{far}, done in {spoken(seconds)}"
        if not self.counted:
            return far
        return f"{far}, about {spoken((self.total - self.done) * seconds / self.counted)} left"


def spoken(seconds: float) -> str:
    """75 → "1 min 15 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def drawn(description: str, total: int, unit: str) -> Iterator[Advance]:
    """A bar on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            digits = 0 if speed and speed >= 10 else 1
            return Text("" if speed is None else f"{speed:,.{digits}f} {unit}/s")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(description, total=total)
        yield lambda done: bars.advance(task, done)
