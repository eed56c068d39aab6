"""Whether a process lives, also one that an earlier server started: it holds a lock that ends with it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = "lock"


@contextmanager
def lock_for_child(folder: Path) -> Iterator[tuple[int, ...]]:
    """Locks the folder; whoever inherits the descriptors keeps the lock for life."""
    try:
        import fcntl
    except ImportError:  # not on every system; there, only the server that started a process knows of it
        yield ()
        return
    descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield (descriptor,)
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process lives that was given the lock."""
    try:
        import fcntl

        descriptor = os.open(folder / FILE, os.O_RDWR)
    except (ImportError, FileNotFoundError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # two who look do not see each other
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
