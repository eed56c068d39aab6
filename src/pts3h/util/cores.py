"""How many cores there are to work with, and how many of them networks may take."""

import os
import sys

_limits: list[int] = []  # the last one counts


def usable_cores() -> int:
    """Cores that this process may run on: a container or ``taskset`` may leave it fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_threads(count: int) -> None:
    """Let networks run on so many threads, those of torch too, whether it is imported already or later."""
    _limits.append(count)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(count)


def thread_limit() -> int | None:
    """What :func:`limit_threads` was told last; None where nobody did."""
    return _limits[-1] if _limits else None


def network_threads() -> int:
    """Threads that a network should run on: by the limit, by ``OMP_NUM_THREADS``, else all cores."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return thread_limit() or (int(asked) if asked.isdecimal() and int(asked) else usable_cores())
