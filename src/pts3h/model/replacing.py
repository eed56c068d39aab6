"""Replacing the files of a folder all at once: a crash leaves the old ones or the new ones.

New files are written into a folder inside. The moment at which they count is one rename of that folder, to
``NEW``: from then on a file is read from there, as long as it has not moved to its place. What a crash cuts
short, the next replacement completes.
"""

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..util.files import explain_os_errors, state_of, sync_folder

NEW, UNFINISHED = ".new", "*.unfinished"

T = TypeVar("T")


@contextmanager
def replacing(folder: Path, *, outdated: Sequence[str] = ()) -> Iterator[Path]:
    """A folder to write into; when the block ends well, its files take the place of those in ``folder``.

    Args:
        folder: whose files are replaced; others in it stay.
        outdated: names of files that go when the new ones come.
    """
    existed = folder.exists()
    fresh = folder / UNFINISHED.replace("*", f".{secrets.token_hex(4)}")
    with explain_os_errors(folder):
        try:
            fresh.mkdir(parents=True)
            yield fresh
            settle(folder)
            sync_folder(fresh)
            fresh.rename(folder / NEW)
            sync_folder(folder)
            if not existed:
                sync_folder(folder.parent)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if not existed:
                with suppress(OSError):
                    folder.rmdir()
            raise
        settle(folder)
        for name in outdated:
            (folder / name).unlink(missing_ok=True)
        for left in folder.glob(UNFINISHED):
            shutil.rmtree(left, ignore_errors=True)


def settle(folder: Path) -> None:
    """Move files that count to their places."""
    new = folder / NEW
    if new.is_dir():
        for file in new.iterdir():
            file.replace(folder / file.name)
        new.rmdir()
        sync_folder(folder)


def current(folder: Path, name: str) -> Path:
    """Where a file of ``folder`` lies: perhaps it has not moved to its place yet."""
    waiting = folder / NEW / name
    return waiting if waiting.exists() else folder / name


def read_together(folder: Path, names: Sequence[str], read: Callable[[], T]) -> T:
    """What ``read`` makes of files that belong together; again, if they were replaced in the meantime."""
    while True:
        before = versions(folder, names)
        try:
            result = read()
        except Exception:
            if versions(folder, names) == before:
                raise
        else:
            if versions(folder, names) == before:
                return result


def versions(folder: Path, names: Sequence[str]) -> list[tuple[int, ...] | None]:
    """Changes when one of the files is replaced, but not when it moves to its place."""
    states = [state_of(current(folder, name)) for name in names]
    return [None if state is None else (state.st_ino, state.st_size, state.st_mtime_ns) for state in states]


def is_empty(folder: Path) -> bool:
    """Whether there is nothing in ``folder`` but what a crash left of a replacement."""
    return not any(path for path in folder.iterdir() if not path.match(UNFINISHED))
