"""Writing files so that a crash leaves the old one or the new one, never half of either."""

import errno
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import DiskError, UserError

LEFTOVER_SECONDS = 3600.0


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn what the disk says (full, read-only, not permitted) into one line that names the path."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space and run again",
        errno.EDQUOT: "your disk quota is used up; free some space and run again",
        errno.EROFS: "that disk is read-only; choose another place",
        errno.EACCES: "no permission to write there; choose another place",
        errno.EPERM: "no permission to write there; choose another place",
        errno.EIO: "that disk fails; choose another place",
        errno.ENOTDIR: "a part of that path is a file, not a folder",
        errno.EEXIST: "that is a file, not a folder",
    }
    try:
        yield
    except OSError as error:
        if error.errno not in advice:
            raise
        raise DiskError(f"cannot write {path}: {advice[error.errno]}") from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise UserError(f"cannot write {str(path)!r}: no name of a file holds a NUL") from error


def write_atomic(path: Path | str, write: Callable[[BinaryIO], object]) -> None:
    """Write a file through a temporary sibling: temp → fsync → replace → fsync of the folder."""
    write_together({Path(path): write})


def write_first(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file as :func:`write_atomic` does, but leave one alone that somebody else has just written."""
    remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_atomic(temporary, write)
    with explain_os_errors(path):
        try:
            with suppress(FileExistsError):
                os.link(temporary, path)
        except OSError:  # a disk on which a file has one name only
            temporary.replace(path)
        temporary.unlink(missing_ok=True)
        sync_folder(path.parent)


def write_together(writes: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files of one folder that belong together.

    If one cannot be written, the old ones stay. A crash, or a disk that fails, in the moment when they take
    their places may leave only the first one, old or new, but never old ones beside new ones.
    """
    first, *others = writes
    with explain_os_errors(first):
        first.parent.mkdir(parents=True, exist_ok=True)
        temporary = {path: path.with_name(f".{path.name}.{secrets.token_hex(8)}") for path in writes}
        try:
            for path, write in writes.items():
                remove_leftovers(path)
                with temporary[path].open("xb") as file:  # unlike mkstemp's, colleagues may read it
                    write(file)
                    file.flush()
                    os.fsync(file.fileno())
            for path in others:
                path.unlink(missing_ok=True)
            for path in writes:
                temporary[path].replace(path)
        except BaseException:
            for left in temporary.values():
                with suppress(OSError):  # what went wrong first is what is said
                    left.unlink(missing_ok=True)
            raise
        sync_folder(first.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that they survive a power cut. One that is there is fine."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in made:
        sync_folder(one.parent)


def remove_leftovers(path: Path) -> None:
    """Remove what :func:`write_atomic` left beside ``path`` when it was killed: nobody writes for so long."""
    with suppress(OSError):
        ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}")
        for left in path.parent.iterdir():
            if ours.fullmatch(left.name) and time.time() - left.stat().st_mtime > LEFTOVER_SECONDS:
                left.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename inside ``folder`` survive a power cut. Windows cannot open a folder."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as readable JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_array(path: Path | str, array: NDArray[Any]) -> None:
    """Write an ``.npy`` file, atomically."""
    write_atomic(path, array_writer(array))


def array_writer(array: NDArray[Any]) -> Callable[[BinaryIO], object]:
    """Writes an array as ``.npy``. numpy's own writing does not say that the disk is full."""

    def write(file: BinaryIO) -> None:
        npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(array))
        file.write(array.tobytes("A"))

    return write


def write_text(path: Path | str, text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    write_atomic(path, text_writer(text))


def text_writer(text: str) -> Callable[[BinaryIO], object]:
    """Writes text as UTF-8."""
    return lambda file: file.write(valid_text(text).encode())


def valid_text(text: str) -> str:
    """The name of a file need not be text: bytes of it that are none are written out, ``caf\\udce9``."""
    return text.encode(errors="backslashreplace").decode()


def is_file(path: Path) -> bool:
    """Whether there is a file. Path.is_file raises where a name is longer than any file's."""
    state = state_of(path)
    return state is not None and stat.S_ISREG(state.st_mode)


def state_of(path: Path) -> os.stat_result | None:
    """What the file system says of a file; None if it cannot be reached."""
    try:
        return path.stat()
    except (OSError, ValueError):  # no file has a NUL in its name
        return None


def cache_folder(*parts: str) -> Path:
    """For what can be made anew: ``$PTS3H_CACHE``, or ``$XDG_CACHE_HOME/pts3h``, or ``~/.cache/pts3h``."""
    root = os.environ.get("PTS3H_CACHE")
    if root is None:
        root = str(Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "pts3h")
    folder = Path(root, *parts)
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
