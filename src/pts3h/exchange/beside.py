"""What lies beside a file that holds codes alone: the ids, a line each, and what the codes are, as JSON."""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, NamedTuple

from ..errors import UserError
from ..index.contract import IdKind
from ..util.files import explain_os_errors, make_folder
from .about import About


class Beside(NamedTuple):
    """The suffixes of both, in the place of the file's own."""

    ids: str
    about: str


BESIDE_NPY = Beside(".ids.txt", ".about.json")
BESIDE_FAISS = Beside(".faiss.ids.txt", ".faiss.about.json")


def refuse_existing(path: Path, beside: Iterable[str]) -> None:
    """Raise if ``path``, or what will lie beside it, is there already."""
    for place in (path, *map(path.with_suffix, beside)):
        if place.exists():
            raise UserError(f"{place} exists: choose another file, or replace it with --overwrite")


class Lines:
    """Lines of ids, on disk until it is their turn to be written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, ids: Iterable[Any]) -> None:
        """More of them."""
        self._file.write("".join(f"{_line(one)}\n" for one in ids).encode())

    def write(self, file: BinaryIO) -> None:
        """All of them."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)


@contextmanager
def kept_lines(path: Path) -> Iterator[Lines]:
    """Room for the ids that will lie beside ``path``."""
    with explain_os_errors(path):
        make_folder(path.parent)
        with TemporaryFile(dir=path.parent) as file:
            yield Lines(file)


def _line(one: int | str) -> str:
    """An id as one line: as it is, or as JSON if it has a line break, or looks like JSON."""
    if isinstance(one, int):
        return str(one)
    return one if one.splitlines() == [one] and not one.startswith('"') else json.dumps(one)


def read_ids(path: Path, kind: IdKind) -> Iterator[Any]:
    """The ids in the order of their lines, else raise."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                one = _id(raw.decode().rstrip("\r\n"), kind)
            except ValueError as error:
                wanted = "a whole number" if kind == "int" else "an id"
                raise UserError(f"{path} line {number} is not {wanted}: {error}") from error
            yield one


def _id(line: str, kind: IdKind) -> Any:
    if kind == "int":
        return int(line)
    return json.loads(line) if line.startswith('"') else line


def check_ids_file(place: Path, codes: Path, count: int) -> None:
    """Raise unless ``place`` holds an id for each of the ``count`` codes in the file ``codes``."""
    if not place.is_file():
        raise UserError(f"there is no {place} beside {codes}: write the ids into it, a line for each code")
    lines, last = 0, b"\n"
    with place.open("rb") as file:
        for lines, last in enumerate(file, start=1):  # noqa: B007  (how many there were)
            pass
    if not last.endswith(b"\n"):
        raise UserError(
            f"the last line of {place} has no end: add a line break, or export anew if it was cut"
        )
    if lines != count:
        raise UserError(
            f"{codes} holds {count:,} codes and {place} {lines:,} ids: they do not belong together"
        )


def read_about(place: Path) -> About | None:
    """What is said of the codes beside it, or None if nothing is."""
    return About.from_json(place.read_bytes(), place) if place.is_file() else None
