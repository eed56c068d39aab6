"""How many cores there are to work with."""

import os


def usable_cores() -> int:
    """Cores that this process may run on: a container or ``taskset`` may leave it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
