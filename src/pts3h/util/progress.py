"""Progress bars with rate and time left, on standard error, silent where nobody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


@contextmanager
def bar(description: str, total: int, *, unit: str = "", show: bool | None = None) -> Iterator[Advance]:
    """Show a bar while the block runs; call the yielded function with how many are done.

    Args:
        description: what is being done, a few words.
        total: how many there are.
        unit: what is counted, for the rate ("images/s").
        show: whether to draw; None asks whether standard error is a terminal.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: object) -> Text:
            speed = getattr(task, "finished_speed", None) or getattr(task, "speed", None)
            return Text(
                "" if speed is None else f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.1f} {unit}/s"
            )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.advance(task, done)
