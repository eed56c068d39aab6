"""The files codes can be exported to and imported from, one row each, and how a name finds its format.

A row names its functions as "package.module:function", so that nothing of a format is imported before it is
used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..util.table import Table
from .beside import BESIDE_FAISS, BESIDE_NPY
from .items import Incoming, Outgoing


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes:
        name: what ``--format`` calls it.
        help: what it is, in one line.
        suffixes: of its files, the usual one first.
        write: called as ``write(path, outgoing)``; writes the file or leaves the old one.
        read: called as ``read(path)``; returns :class:`.items.Incoming`.
        holds_meta: whether metadata goes with the codes.
        beside: suffixes of the files that may lie beside it, in the place of its own.
    """

    name: str
    help: str
    suffixes: tuple[str, ...]
    write: str | Callable[[Path, Outgoing], None]
    read: str | Callable[[Path], Incoming]
    holds_meta: bool = True
    beside: tuple[str, ...] = ()


FORMATS = Table(
    "format",
    Format,
    [
        Format(
            "parquet",
            "A Parquet table with the columns id, code and meta.",
            (".parquet", ".pq"),
            "pts3h.exchange.parquet:write_parquet",
            "pts3h.exchange.parquet:read_parquet",
        ),
        Format(
            "faiss",
            "A faiss IndexBinaryIDMap2 over an IndexBinaryFlat.",
            (".faiss",),
            "pts3h.exchange.faiss_file:write_faiss",
            "pts3h.exchange.faiss_file:read_faiss",
            holds_meta=False,
            beside=BESIDE_FAISS,
        ),
        Format(
            "sqlite-vec",
            "An SQLite database with a vec0 table of sqlite-vec.",
            (".sqlite", ".sqlite3", ".db"),
            "pts3h.exchange.sqlite_vec:write_sqlite_vec",
            "pts3h.exchange.sqlite_vec:read_sqlite_vec",
        ),
        Format(
            "npy",
            "A numpy array of codes with the ids beside it, as pts3h encode writes them.",
            (".npy",),
            "pts3h.exchange.npy:write_npy",
            "pts3h.exchange.npy:read_npy",
            holds_meta=False,
            beside=BESIDE_NPY,
        ),
    ],
)


def format_of(path: Path, name: str | Format | None = None) -> Format:
    """The format asked for; by default, the one that the suffix of the file names."""
    if name is not None:
        return FORMATS.find(name)
    for row in FORMATS:
        if path.suffix.lower() in row.suffixes:
            return row
    known = ", ".join(row.suffixes[0] for row in FORMATS)
    raise UserError(
        f"the name of {path} does not say its format: end it in one of {known}, or name the format, "
        f"one of {', '.join(FORMATS.names())}"
    )
