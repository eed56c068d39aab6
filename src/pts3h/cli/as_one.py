"""A command that torchrun started in several processes speaks and ends as one would."""

import io
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from datetime import timedelta
from types import FrameType
from typing import NoReturn

from ..training.ranks import shared_store
from ..util.torchrun import own_rank

SPOKEN, TURN = "pts3h/spoken", "pts3h/turn"
PATIENCE = timedelta(seconds=10)


def run_as_one(run: Callable[[], NoReturn]) -> None:
    """Run a command: rank 0 prints, and no rank leaves with an error before it has.

    torchrun stops all others once a process fails, and rank 0 would have no time to say why.
    """
    signal.signal(signal.SIGTERM, as_ctrl_c)
    if own_rank() == 0:
        try:
            run()
        except SystemExit:
            linger()
            shared_store().set(SPOKEN, "")
            raise
    unheard = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(unheard):
            run()
    except SystemExit as ended:
        if ended.code:
            linger()
            speak_if_nobody_did(unheard.getvalue())
        raise


def as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """torchrun says SIGTERM where a person says Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def linger() -> None:
    """Come to the end by itself: from here on it takes a moment."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def speak_if_nobody_did(text: str) -> None:
    """Leave the word to rank 0, which may be the one that is gone; then one of the others says it."""
    store = shared_store()
    try:
        store.wait([SPOKEN], PATIENCE)
    except RuntimeError:
        if store.add(TURN, 1) == 1:
            print(text, end="", file=sys.stderr, flush=True)
