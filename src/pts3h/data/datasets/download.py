"""Verified downloads into the cache, and files that the clients of package registries fetch."""

import hashlib
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

from ...errors import UserError
from ...util import progress
from ...util.files import cache_folder


def download(address: str, *, digest: str) -> Path:
    """Fetch ``address`` once, checked against ``digest`` ("sha256:..." or "md5:...")."""
    import pooch

    name = address.rsplit("/", 1)[-1]
    folder = cache_folder("downloads")
    pooch.get_logger().setLevel("ERROR")
    try:
        with DownloadBar(name) as bar:
            get = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=20)
            fetched = pooch.retrieve(address, known_hash=digest, fname=name, path=folder, downloader=get)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UserError(f"cannot download {address} ({reason})") from error
    return Path(fetched)


class DownloadBar(ExitStack):
    """Our progress bar with the methods that pooch calls; drawn from the first bytes on."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.total = name, 0
        self._advance: progress.Advance | None = None
        self._full = False

    def update(self, count: int) -> None:
        """Count more bytes."""
        if self._advance is None:
            self._advance = self.enter_context(progress.bar(self.name, self.total // 1024, unit="KB"))
        if not self._full:
            self._advance(count // 1024)

    def reset(self) -> None:
        """pooch fills the bar again at the end, which would count everything twice."""
        self._full = True


def has_digest(path: Path, digest: str) -> bool:
    """Whether a file's content has this digest."""
    kind, expected = digest.split(":")
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest() == expected


def run_tool(command: list[str], folder: Path) -> None:
    """Run a registry client, quietly."""
    if shutil.which(command[0]) is None:
        raise UserError(f"{command[0]} is not installed")
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        raise UserError(f"'{' '.join(command)}' failed") from error
