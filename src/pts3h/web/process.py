"""A process that works in the background of the server."""

import logging
import os
import signal
import warnings
from types import FrameType

from ..util.cores import limit_threads, usable_cores

NICE = 10  # searches come first


def prepare_process() -> None:
    """Leave a core to the searches, and take SIGTERM for Ctrl-C, which a step at hand is finished for."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    limit_threads(max(1, usable_cores() - 1))
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)

    def stop(number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored in the background
    signal.signal(signal.SIGTERM, stop)
