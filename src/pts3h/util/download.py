"""Verified downloads, and files that the clients of package registries fetch."""

import hashlib
import shutil
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, TypeVar

from ..errors import DiskError, UserError
from . import progress
from .files import cache_folder, write_atomic

SECONDS_OF_SILENCE = 20
SECONDS = 3600.0  # for all of a file, however slowly it drips in

T = TypeVar("T")


def download(address: str, *, sha256: str, folder: Path | None = None, seconds: float = SECONDS) -> Path:
    """Fetch ``address`` once, checked against its digest.

    Args:
        address: of a file.
        sha256: digest of its content, all 64 digits; what has another one is refused and not kept.
        folder: where it is kept; in the cache by default.
        seconds: how long it may take.
    """
    import pooch

    name = address.rsplit("/", 1)[-1]
    path = (cache_folder("downloads") if folder is None else folder) / name
    try:
        if path.exists() and has_digest(path, sha256):
            return path
        with DownloadBar(name) as bar:
            get = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=SECONDS_OF_SILENCE)

            def write(file: BinaryIO) -> None:
                get(address, file, None)
                file.flush()
                if not has_digest(Path(file.name), sha256):
                    raise ValueError("what the server sent is not what was to be: its sha256 differs")

            within(seconds, lambda: write_atomic(path, write))
    except DiskError:
        raise
    except TimeoutError as error:
        raise UserError(
            f"cannot download {address} (it takes more than {progress.spoken(seconds)})"
        ) from error
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UserError(f"cannot download {address} ({reason})") from error
    return path


def within(seconds: float, work: Callable[[], T]) -> T:
    """What ``work`` returns; TimeoutError if that takes longer.

    It runs in a thread that is left alone then: no other way ends a wait for a server that sends a byte now
    and then, in the middle of a line.
    """
    future: Future[T] = Future()
    threading.Thread(target=fulfil, args=(future, work), daemon=True, name="download").start()
    try:
        return future.result(timeout=seconds)
    finally:
        del future  # see below


def fulfil(future: Future[T], work: Callable[[], T]) -> None:
    """Do the work of a future."""
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
        del future  # it knows the error, which knows this frame: connections would stay open in that circle


class DownloadBar(ExitStack):
    """Our progress bar with the methods that pooch calls; drawn from the first bytes on."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.callback(self._end)
        self.name, self.total = name, 0
        self._advance: progress.Advance | None = None
        self._full = self._over = False

    def update(self, count: int) -> None:
        """Count more bytes; nobody waits for them any more once the bar is gone."""
        if self._over:
            raise TimeoutError
        if self._advance is None:
            self._advance = self.enter_context(progress.bar(self.name, self.total // 1024, unit="KB"))
        if not self._full:
            self._advance(count // 1024)

    def reset(self) -> None:
        """pooch fills the bar again at the end, which would count everything twice."""
        self._full = True

    def _end(self) -> None:
        self._over = True


def has_digest(path: Path, sha256: str) -> bool:
    """Whether a file's content has this digest."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def run_tool(command: list[str], folder: Path) -> None:
    """Run a registry client, quietly."""
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} is not installed")
    try:
        # no shell, and no word of the command is a user's
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)  # nosec B603
    except (subprocess.SubprocessError, OSError) as error:
        raise UserError(f"'{' '.join(command)}' failed") from error
