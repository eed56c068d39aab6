"""Ctrl-C lets the step at hand finish, so that a run stops where it can go on.

torchrun hands a signal on to its processes, and a terminal has told them already: there one Ctrl-C comes
twice. So it stops nobody at once there; torchrun kills what goes on for half a minute.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signal(*, by_torchrun: bool = False) -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C stops at once.

    Args:
        by_torchrun: whether signals come by way of torchrun; SIGTERM then counts as well.
    """
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return

    def stop(number: int, frame: Any) -> None:
        stopping.set()
        if not by_torchrun:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    numbers = (signal.SIGINT, signal.SIGTERM) if by_torchrun else (signal.SIGINT,)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
