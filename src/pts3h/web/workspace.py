"""A workspace: the folder beside a collection where the page keeps what it makes. See ``docs/serving.md``."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..util.files import cache_folder, explain_os_errors, make_folder, write_json

FORMAT = 1
POINTER = "current.json"


@dataclass(frozen=True)
class Place:
    """Where a generation lies.

    Attributes:
        generation: 0 for what was given, then the number of the job that made it.
        index: address of its index.
        model: folder of its model.
    """

    generation: int
    index: str
    model: Path


@dataclass(frozen=True)
class Pointer:
    """What is in use, and what was before."""

    current: Place
    before: Place | None = None


class Workspace:
    """The folder.

    Args:
        folder: made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        with explain_os_errors(self.folder):
            make_folder(self.folder)

    @property
    def answers(self) -> Path:
        """What people answered."""
        return self.folder / "answers.db"

    @property
    def thumbnails(self) -> Path:
        """Small pictures."""
        return self.folder / "thumbnails"

    def job(self, number: int) -> Path:
        """A training job."""
        return self.folder / "jobs" / str(number)

    def generation(self, number: int) -> Place:
        """Where a generation that is made here lies."""
        folder = self.folder / "generations" / str(number)
        return Place(number, str(folder / "index"), folder / "model")

    def pointer(self) -> Pointer | None:
        """What is in use; None in a new workspace."""
        path = self.folder / POINTER
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise UserError(f"{path} was written by another version of pts3h")
            before = stored.get("before")
            return Pointer(self._read(stored), None if before is None else self._read(before))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(f"{path} cannot be read ({error}): move it away to start anew") from error

    def point(self, pointer: Pointer) -> None:
        """Note what is in use, in one step."""
        before = None if pointer.before is None else self._plain(pointer.before)
        write_json(
            self.folder / POINTER, {"format": FORMAT, **self._plain(pointer.current), "before": before}
        )

    def _read(self, stored: dict[str, Any]) -> Place:
        index, model = str(stored["index"]), Path(stored["model"])
        if "://" not in index:
            index = str(self.folder / index)
        return Place(int(stored["generation"]), index, self.folder / model)

    def _plain(self, place: Place) -> dict[str, Any]:
        """A place as it is written; what lies in the workspace moves with it."""
        return {
            "generation": place.generation,
            "index": place.index if "://" in place.index else self._below(Path(place.index)),
            "model": self._below(place.model),
        }

    def _below(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)


def workspace_beside(photos: Path, asked: Path | None, say: Callable[[str], None]) -> Workspace:
    """The folder for what is made: beside the pictures, or in the cache where nobody may write there."""
    if asked is not None:
        return Workspace(asked)
    beside = photos.with_name(f"{photos.name}.pts3h")
    if beside.is_dir() or os.access(photos.parent, os.W_OK):
        return Workspace(beside)
    name = f"{photos.name}-{hashlib.sha256(str(photos).encode(errors='replace')).hexdigest()[:12]}"
    folder = cache_folder("workspaces") / name
    say(f"no permission to write into {photos.parent}: answers and models are kept in {folder}")
    return Workspace(folder)
