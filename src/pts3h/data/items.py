"""Whatever a user has (folder, list, CSV, array) → items: pictures or vectors, each with an id."""

import csv
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from ..errors import SkippedWarning, UserError
from ..util.files import is_file, valid_text
from .arrays import as_array
from .formats import describe_left_out, find_images
from .images import ImageArray, ImageFiles, Images, Positions

Vectors = NDArray[np.floating]
Labels = NDArray[np.int64]

LARGEST = 1e15  # in a vector: sums of its square still fit into 32 bits, with which networks compute


@dataclass(frozen=True)
class Items:
    """A collection in a fixed order.

    Attributes:
        content: the pictures, or vectors (n, d).
        ids: one name per item; an item of an array is named by its position.
        labels: what the source says of classes: (n,) with -1 unknown, or (n, classes) of 0/1; None where it
            is silent.
        classes: names of the classes.
    """

    content: Images | Vectors
    ids: Sequence[str]
    labels: Labels | None = None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.content)

    @property
    def images(self) -> Images | None:
        """The pictures, or None where the items are vectors."""
        return None if isinstance(self.content, np.ndarray) else self.content

    @property
    def paths(self) -> Sequence[Path] | None:
        """Where the pictures lie, if they are files."""
        return self.content.paths if isinstance(self.content, ImageFiles) else None

    def subset(self, positions: Positions) -> "Items":
        """The items at ``positions``, in that order."""
        content = self.content
        chosen = content[positions] if isinstance(content, np.ndarray) else content.subset(positions)
        labels = None if self.labels is None else self.labels[positions]
        return Items(chosen, [self.ids[position] for position in positions], labels, self.classes)


# what a user may have: a folder or file, a list of picture paths, an array or table, or items already read
ItemsLike = Items | str | Path | Sequence[str | Path] | ArrayLike


def read_items(source: ItemsLike, *, root: Path | str | None = None) -> Items:
    """Read items from whatever a user has.

    Args:
        source: a folder of pictures, an ``.npy`` file, a CSV, a list file (``<path> <0/1> <0/1> ...``), a
            list of picture paths, an array of pictures (n, h, w[, 3]) or of vectors (n, d), a table or column
            of vectors (pandas, polars, Arrow), a tensor, or items already read.
        root: where relative paths in a CSV or list file start; its own folder by default.
    """
    if isinstance(source, Items):
        return source
    if isinstance(source, (str, Path)):
        return read_path(Path(source), root=None if root is None else Path(root))
    if (
        isinstance(source, (list, tuple))
        and source
        and all(isinstance(entry, (str, Path)) for entry in source)
    ):
        return from_paths([Path(entry) for entry in source])
    if isinstance(source, (list, tuple)) and not source:
        raise UserError("there are no items: the list is empty")
    return from_array(as_array(source))


def read_path(path: Path, *, root: Path | None) -> Items:
    """Items from a folder or file, by what it is."""
    if path.is_dir():
        return from_folder(path)
    if not path.exists():
        raise UserError(f"{path} does not exist: give a folder of pictures, an .npy, a CSV or a list file")
    match path.suffix.lower():
        case ".npy":
            return from_array(load_array(path))
        case ".csv":
            return from_csv(path, root or path.parent)
        case ".txt" | ".lst" | ".list":
            return from_list_file(path, root or path.parent)
    raise UserError(f"cannot read {path}: give a folder of pictures, an .npy, a .csv or a .txt list file")


def load_array(path: Path) -> NDArray[Any]:
    """An ``.npy`` file, left on disk until read, never unpickled."""
    try:
        array: NDArray[Any] = npy.open_memmap(path, mode="r")  # unlike np.load, it takes nothing else for one
    except (ValueError, TypeError, EOFError, OSError, SyntaxError, TokenError) as error:
        raise UserError(f"{path} is not a readable .npy array of numbers ({error})") from error
    return array


def from_folder(folder: Path) -> Items:
    """All pictures below a folder; ids are paths relative to it."""
    paths, left_out = find_images(folder)
    unread = f"pictures below {folder} are in formats that are not read: {describe_left_out(left_out)}"
    if not paths:
        raise UserError(f"all {unread}" if left_out else f"there are no pictures below {folder}")
    if left_out:
        warnings.warn(f"{left_out.total():,} {unread}", SkippedWarning, stacklevel=2)
    ids = [valid_text(path.relative_to(folder).as_posix()) for path in paths]
    if repeated := [name for name, times in Counter(ids).items() if times > 1]:
        raise UserError(f"two files below {folder} are both called {repeated[0]}: rename one of them")
    return Items(ImageFiles(paths), ids)


def from_paths(paths: list[Path]) -> Items:
    """Pictures by path; ids are the paths as given."""
    if missing := [path for path in paths if not is_file(path)]:
        raise UserError(f"{len(missing)} of {len(paths)} files do not exist, the first is {missing[0]}")
    return Items(ImageFiles(paths), [valid_text(path.as_posix()) for path in paths])


def from_array(array: NDArray[Any]) -> Items:
    """Pictures from an array of 3 or 4 axes, vectors from one of 2."""
    if len(array.shape) not in (2, 3, 4) or array.dtype.kind not in "uifb":
        raise UserError(
            f"an array of items is (n, d) vectors or (n, h, w[, 3]) pictures, got {array.dtype} {array.shape}"
        )
    if not len(array):
        raise UserError("there are no items: the array is empty")
    ids = [str(position) for position in range(len(array))]
    if array.ndim == 2:
        return Items(check_vectors(array), ids)
    return Items(ImageArray(as_pixels(array)), ids)


def check_vectors(array: NDArray[Any]) -> Vectors:
    """Vectors as floating point, refused where one holds NaN, infinity or what is near to it."""
    if array.shape[1] == 0:
        raise UserError("the vectors have no entries: the array has shape (n, 0)")
    if array.dtype not in (np.float16, np.float32, np.float64):  # torch takes native ones of these alone
        with np.errstate(over="ignore"):  # too large is infinite, which is refused below
            array = array.astype(np.float32)
    largest = min(LARGEST, float(np.finfo(array.dtype).max))
    for start in range(0, len(array), 65_536):
        bad = np.flatnonzero(~(np.abs(array[start : start + 65_536]) <= largest).all(axis=1))
        if len(bad):
            raise UserError(
                f"row {start + bad[0]} of the vectors holds NaN or infinity, or a number beyond {LARGEST:g}: "
                "remove or mend it"
            )
    return array


def as_pixels(array: NDArray[Any]) -> NDArray[np.uint8]:
    """(n, h, w), (n, h, w, 1), (n, h, w, 3) or (n, 3, h, w), bytes or [0, 1] → (n, h, w, 3) bytes."""
    if array.dtype.kind in "fb":
        if array.size and (not np.isfinite(array).all() or array.min() < 0 or array.max() > 1):
            raise UserError("pictures given as floating point must lie in [0, 1]; or give uint8")
        array = np.round(array * 255.0).astype(np.uint8)
    if array.dtype != np.uint8:
        raise UserError(f"pictures must be uint8, or floating point in [0, 1], got {array.dtype}")
    if array.ndim == 3:
        array = array[..., None]
    if array.shape[-1] not in (1, 3) and array.shape[1] in (1, 3):
        array = array.transpose(0, 2, 3, 1)
    if array.shape[-1] not in (1, 3) or not array.size:
        raise UserError(f"pictures must have pixels of 1 or 3 colours, got an array of shape {array.shape}")
    return np.broadcast_to(array, (*array.shape[:3], 3)) if array.shape[-1] == 1 else array


def from_csv(path: Path, root: Path) -> Items:
    """A CSV with a header: a ``path`` column of pictures, or columns of numbers; maybe ``id``, ``label``."""
    rows = read_rows(path)
    header = [name.strip().lower() or "id" for name in rows[0]] if rows else []  # spreadsheets leave it empty
    body = rows[1:]
    if not body:
        raise UserError(f"{path} has no rows below its header")
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise UserError(f"{path} row {number} has {len(row)} columns, the header has {len(header)}")
    columns = {name: [row[index].strip() for row in body] for index, name in enumerate(header)}
    if all(map(is_number, header)) and header != [str(place) for place in range(len(header))]:
        raise UserError(f"{path} needs a header in its first row, which holds numbers alone")
    if repeated := [name for name, times in Counter(columns.get("id", [])).items() if times > 1]:
        raise UserError(f"{path} has the id {repeated[0]!r} more than once")
    labels, classes = encode_classes(columns["label"]) if "label" in columns else (None, ())
    if "path" in columns:
        names = columns.get("id", columns["path"])
        items = from_paths([root / name for name in columns["path"]])
        return Items(items.content, names, labels, classes)
    numeric = [index for index, name in enumerate(header) if name not in ("id", "label")]
    try:
        with np.errstate(over="ignore"):  # infinity is refused below, by row
            vectors = np.array([[row[index] for index in numeric] for row in body], np.float32)
    except ValueError as error:
        raise UserError(
            f"{path} needs a 'path' column of pictures, or columns of numbers (besides 'id', 'label'): "
            f"{error}"
        ) from error
    ids = columns.get("id", [str(position) for position in range(len(body))])
    return Items(check_vectors(vectors), ids, labels, classes)


def from_list_file(path: Path, root: Path) -> Items:
    """The field's list files: ``<path> <0/1> <0/1> ...``, one flag per class; or paths alone."""
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path} as a list file: {error}") from error
    if not lines:
        raise UserError(f"{path} is empty")
    flags = len(lines[0]) - 1
    for number, parts in enumerate(lines, start=1):
        if len(parts) - 1 != flags or any(flag not in ("0", "1") for flag in parts[1:]):
            raise UserError(f"{path} line {number}: expected a path (no spaces) and {flags} flags of 0 or 1")
    names = [parts[0] for parts in lines]
    items = from_paths([root / name for name in names])
    labels = np.array([parts[1:] for parts in lines], np.int64) if flags else None
    return Items(items.content, names, labels)


def read_rows(path: Path) -> list[list[str]]:
    """The non-empty rows of a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"cannot read {path} as CSV: {error}") from error


def is_number(text: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def encode_classes(names: Sequence[str]) -> tuple[Labels, tuple[str, ...]]:
    """Class names → numbers in name order; an empty name or -1 means unknown."""
    unknown = {"", "-1"}
    classes = tuple(sorted(set(names) - unknown))
    number = {name: position for position, name in enumerate(classes)}
    return np.array([number.get(name, -1) for name in names], np.int64), classes
