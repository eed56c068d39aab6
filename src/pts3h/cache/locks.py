"""Files in use: whoever uses a file shares its lock, and only what nobody uses is removed.

A lock belongs to the open file. It ends with the process, however that ends, and lasts as long as a map of
the file does, since a map keeps the file open.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ..util.files import explain_os_errors


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time into the block; the others wait. The lock ends with the process."""
    with explain_os_errors(path):
        file = open_in_use(path, create=True, operation="LOCK_EX")
    with file:
        yield


def open_in_use(path: Path, *, create: bool = False, operation: str = "LOCK_SH") -> BinaryIO:
    """Open a file and lock it: to read it, or to write it where there may be none yet."""
    while True:
        file = open_to_write(path) if create else path.open("rb")
        lock(file, operation)
        if still_there(file, path):
            return file
        file.close()  # it was removed while this process waited


def open_to_write(path: Path) -> BinaryIO:
    """Open a file as it is, or an empty one; nothing is held back in memory."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    return cast(BinaryIO, os.fdopen(descriptor, "r+b", buffering=0))


def still_there(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one that the path leads to."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def alone(file: BinaryIO) -> Iterator[None]:
    """Let one open file at a time into the block; the others wait."""
    lock(file, "LOCK_EX")
    try:
        yield
    finally:
        lock(file, "LOCK_UN")


@contextlib.contextmanager
def if_unused(path: Path) -> Iterator[bool]:
    """Whether nobody uses a file; then nobody can begin to before the block ends."""
    with path.open("rb") as file:
        try:
            lock(file, "LOCK_EX", wait=False)
        except BlockingIOError:
            yield False
        else:
            yield True


def remove_unused(files: Iterable[Path]) -> None:
    """Remove files that nobody uses, as processes leave them that are killed."""
    for path in files:
        with contextlib.suppress(OSError), if_unused(path) as unused:
            if unused:
                path.unlink()


def lock(file: BinaryIO, operation: str, *, wait: bool = True) -> None:
    """Lock an open file as ``flock`` does; nothing happens on a system without it."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, getattr(fcntl, operation) | (0 if wait else fcntl.LOCK_NB))
