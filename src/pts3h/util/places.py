"""Files and folders on this machine's disks, or at any address that fsspec knows: ``s3://bucket/photos``."""

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from ..errors import UserError
from .addresses import shown_address
from .extras import from_extra
from .files import state_of, write_atomic

# what stores say of a file that changes with it; none of them says all
CHANGING = ("size", "mtime", "last_modified", "LastModified", "ETag", "etag", "generation", "created", "md5")
PATTERN = "*?["  # signs that make a name stand for several files


class Found(NamedTuple):
    """A file below a folder.

    Attributes:
        name: its path relative to the folder, with ``/``.
        stamp: changes whenever the file does.
    """

    name: str
    stamp: str


class Place:
    """A file or a folder.

    Args:
        address: a path, or an address with ``://``. Only the latter needs fsspec, and maybe a package for its
            scheme.
    """

    def __init__(self, address: str | Path) -> None:
        text = os.fspath(address)
        self._store: Any = None
        if "://" in text and not text.startswith("file://"):
            fsspec = from_extra("fsspec", "ray", wants=f"the address {shown_address(text)}")
            self.address, self.shown = text.rstrip("/"), shown_address(text)
            with self._reached():
                self._store, self._path = fsspec.core.url_to_fs(self.address)
        else:
            self.path = Path(text.removeprefix("file://"))
            self.address = self.shown = str(self.path)

    def __truediv__(self, name: str) -> "Place":
        return Place(f"{self.address}/{name}" if self._store else self.path / name)

    def __str__(self) -> str:
        return self.shown

    @property
    def is_local(self) -> bool:
        """Whether it is a path, ``self.path``."""
        return self._store is None

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition("/")[2] if self._store else self.path.name

    def absolute(self) -> "Place":
        """The same from wherever it is looked at."""
        return self if self._store else Place(self.path.absolute())

    def is_file(self) -> bool:
        """Whether there is a file."""
        if self._store is None:
            return (state := state_of(self.path)) is not None and stat.S_ISREG(state.st_mode)
        with self._reached():
            return bool(self._store.isfile(self._path))

    def is_folder(self) -> bool:
        """Whether there is a folder."""
        if self._store is None:
            return self.path.is_dir()
        with self._reached():
            return bool(self._store.isdir(self._path))

    def stamp(self) -> str:
        """What changes whenever the file does."""
        if self._store is None:
            with self._reached():
                state = self.path.stat()
            return f"{state.st_size}-{state.st_mtime_ns}"
        with self._reached():
            return _stamp(self._store.info(self._path))

    def files(self) -> list[Found]:
        """All files below a folder in a fixed order, without hidden ones and those in hidden folders."""
        if self._store is None:
            found = [(path.relative_to(self.path).as_posix(), path) for path in self.path.rglob("*")]
            named = [Found(name, Place(path).stamp()) for name, path in found if path.is_file()]
        else:
            with self._reached():
                details = self._store.find(self._path, detail=True)
            start = self._path.rstrip("/") + "/"
            named = [Found(path.removeprefix(start), _stamp(info)) for path, info in details.items()]
        return sorted(one for one in named if not any(p.startswith(".") for p in one.name.split("/")))

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its content, to be read from any place."""
        with self._reached():
            file = self.path.open("rb") if self._store is None else self._store.open(self._path)
        with file:
            yield cast(BinaryIO, file)

    def read(self) -> bytes:
        """Its content."""
        with self.open() as file:
            return file.read()

    def read_below(self, names: list[str]) -> list[bytes | str]:
        """Of each file below a folder its content, or the reason why it cannot be read; many at once."""
        paths = {name: f"{self._path.rstrip('/')}/{name}" for name in names}
        with self._reached():
            found = self._store.cat(list(paths.values()), on_error="return")
        contents = found if isinstance(found, dict) else {next(iter(paths.values())): found}
        read = [contents.get(path, FileNotFoundError("it is not there")) for path in paths.values()]
        return [one if isinstance(one, bytes) else str(one) or type(one).__name__ for one in read]

    def write(self, write: Callable[[BinaryIO], object]) -> None:
        """Write the file whole. A store that shows half of a file while it is written has to be told so."""
        if self._store is None:
            write_atomic(self.path, write)
            return
        content = io.BytesIO()
        write(content)
        with self._reached():
            self._store.makedirs(self._store._parent(self._path), exist_ok=True)
            self._store.pipe_file(self._path, content.getvalue())

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Turn what a disk or a store says into one line."""
        try:
            yield
        except UserError:
            raise
        except FileNotFoundError as error:
            raise UserError(f"there is no {self.shown}") from error
        except (OSError, ValueError, ImportError) as error:
            raise UserError(f"cannot reach {self.shown}: {error}") from error


def matching(pattern: str) -> list[Place]:
    """The files that a pattern such as ``shards/*.tar`` stands for, in a fixed order; else the place itself.

    Only the last part of the address may hold a pattern.
    """
    folder, slash, last = pattern.rpartition("/")
    if not any(sign in last for sign in PATTERN):
        return [Place(pattern)]
    place = Place(folder + slash if "://" in folder or slash else ".")
    names = [one.name for one in place.files() if "/" not in one.name and fnmatchcase(one.name, last)]
    return [place / name for name in names]


def _stamp(info: dict[str, Any]) -> str:
    """Stores give times as numbers in one call and as moments in another."""
    told = {name: info[name] for name in CHANGING if info.get(name) is not None}
    return " ".join(
        f"{name}={getattr(one, 'timestamp', lambda one=one: one)()}" for name, one in told.items()
    )
