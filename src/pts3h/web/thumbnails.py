"""Small pictures, made once and kept: the latest in memory, more of them in the workspace, both bounded."""

import hashlib
import io
import secrets
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..data.decoding import shrink_file
from ..errors import BrokenImage
from ..indexing import file_stamp
from ..util.files import explain_os_errors
from .errors import not_found

MEMORY = 64_000_000  # bytes
DISK = 500_000_000
LOOK_EVERY = 500  # files that are written between two looks at how much there is
SIZES = (64, 128, 256)
LARGEST = 1600  # pixels of a picture that is shown whole
QUALITY = 80


@dataclass(frozen=True)
class Small:
    """A small picture and a name that changes with it."""

    content: bytes
    tag: str


class Thumbnails:
    """Makes small pictures of files.

    Args:
        folder: where they are kept; None keeps them in memory alone.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._kept, self._bytes, self._written = OrderedDict[str, bytes](), 0, 0
        self._lock = threading.Lock()
        if folder is not None:
            with explain_os_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def tag(path: Path, size: int) -> str:
        """A name for the picture as it is now, at a size."""
        return hashlib.sha256(f"{path} {file_stamp(path)} {size}".encode(errors="replace")).hexdigest()[:32]

    def make(self, path: Path, size: int) -> Small:
        """The picture, at most ``size`` pixels wide and high, as WebP."""
        tag = self.tag(path, size)
        content = self._find(tag)
        if content is None:
            try:
                image = shrink_file(path, size)
            except BrokenImage as error:
                raise not_found("picture of that item that can be read") from error
            file = io.BytesIO()
            image.save(file, "WEBP", quality=QUALITY, method=2)
            content = file.getvalue()
            self._keep(tag, content, on_disk=size in SIZES)
        return Small(content, tag)

    def _find(self, tag: str) -> bytes | None:
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
                return self._kept[tag]
        if self.folder is None:
            return None
        try:
            content = (self.folder / f"{tag}.webp").read_bytes()
        except OSError:
            return None
        if not is_whole(content):
            return None
        self._keep(tag, content, on_disk=False)
        return content

    def _keep(self, tag: str, content: bytes, *, on_disk: bool) -> None:
        with self._lock:
            self._bytes += len(content) - len(self._kept.pop(tag, b""))
            self._kept[tag] = content
            while self._bytes > MEMORY:
                self._bytes -= len(self._kept.popitem(last=False)[1])
            self._written += on_disk
            look = on_disk and self._written % LOOK_EVERY == 1
        if on_disk and self.folder is not None:
            with suppress(OSError):  # a full disk costs time, nothing else
                write(self.folder / f"{tag}.webp", content)
                if look:
                    remove_oldest(self.folder, DISK)


def write(path: Path, content: bytes) -> None:
    """Write a file that can be made again: never half of it, but a power cut may lose it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    temporary.write_bytes(content)
    temporary.replace(path)


def is_whole(content: bytes) -> bool:
    """Whether a WebP file is as long as its header says."""
    return content[:4] == b"RIFF" and int.from_bytes(content[4:8], "little") + 8 == len(content)


def remove_oldest(folder: Path, most: int) -> None:
    """Leave at most ``most`` bytes in a folder of thumbnails."""
    files = [
        (state.st_mtime, state.st_size, path) for path in folder.glob("*.webp") if (state := path.stat())
    ]
    left = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if left <= most:
            return
        path.unlink(missing_ok=True)
        left -= size
