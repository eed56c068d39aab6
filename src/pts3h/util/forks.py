"""What a forked process must not take over: locks that nobody opens, threads that are gone."""

import os
from collections.abc import Callable


def after_fork(action: Callable[[], None]) -> None:
    """Call ``action`` in every forked child before anything else runs there."""
    if hasattr(os, "register_at_fork"):  # where processes fork
        os.register_at_fork(after_in_child=action)
