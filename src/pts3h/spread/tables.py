"""Parquet files with items in them: an id column, and a column of vectors or of pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..exchange.parquet import KIND, arrow_and_parquet
from ..exchange.unreadable import refused_as
from ..index.contract import IdKind
from ..util.places import Place


@dataclass(frozen=True)
class Columns:
    """What a user says of the columns.

    Attributes:
        id: the one of the ids.
        content: the one of the vectors or pictures; None for the only one that can be.
    """

    id: str = "id"
    content: str | None = None


@dataclass(frozen=True)
class Table:
    """What a Parquet file holds.

    Attributes:
        ids: the kind of its ids.
        id, column: names of the columns.
        groups: numbers of row groups that belong together, and how many rows they have.
    """

    ids: IdKind
    id: str
    column: str
    groups: list[tuple[list[int], int]]


def row_groups(place: Place, columns: Columns, size: int) -> Table:
    """Look at a file: its columns, and row groups put together until they hold ``size`` rows."""
    arrow, parquet = arrow_and_parquet()
    with place.open() as content, refused_as(str(place), KIND, arrow.ArrowException, OSError):
        file = parquet.ParquetFile(content)
        schema, footer = file.schema_arrow, file.metadata
    kinds = {field.name: field.type for field in schema}
    content_column = _content(arrow, kinds, columns, place)
    ids = _kind_of_ids(arrow, kinds, columns, place)
    groups, waiting, count = list[tuple[list[int], int]](), list[int](), 0
    for group in range(footer.num_row_groups):
        waiting.append(group)
        count += footer.row_group(group).num_rows
        if count >= size:
            groups.append((waiting, count))
            waiting, count = [], 0
    if count:
        groups.append((waiting, count))
    return Table(ids, columns.id, content_column, groups)


def _kind_of_ids(arrow: Any, kinds: dict[str, Any], columns: Columns, place: Place) -> IdKind:
    kind = kinds.get(columns.id)
    if kind is None:
        raise UserError(
            f"{place} has no column {columns.id!r}: name the one of the ids with --id-column; "
            f"it has {', '.join(kinds)}"
        )
    if arrow.types.is_integer(kind):
        return "int"
    if arrow.types.is_string(kind) or arrow.types.is_large_string(kind):
        return "text"
    raise UserError(f"the ids in column {columns.id!r} of {place} must be integers or text, they are {kind}")


def _content(arrow: Any, kinds: dict[str, Any], columns: Columns, place: Place) -> str:
    fitting = [name for name, kind in kinds.items() if is_pictures(arrow, kind) or is_vectors(arrow, kind)]
    asked = columns.content
    if asked is None and len(fitting) == 1:
        return fitting[0]
    if asked in fitting:
        return asked
    told = f"it has {', '.join(f'{name} ({kind})' for name, kind in kinds.items())}"
    if asked in kinds:
        raise UserError(
            f"the column {asked!r} of {place} holds {kinds[asked]}: vectors are lists of numbers, "
            "pictures are bytes"
        )
    if asked is None and fitting:
        raise UserError(f"{place} has several columns of items: choose one with --column; {told}")
    named = "" if asked is None else f" {asked!r}"
    raise UserError(f"{place} has no column{named} of vectors (lists of numbers) or pictures (bytes); {told}")


def is_pictures(arrow: Any, kind: Any) -> bool:
    """Bytes of files; or, as Hugging Face writes them, beside a path."""
    is_ = arrow.types
    if is_.is_struct(kind):
        return any(field.name == "bytes" and is_pictures(arrow, field.type) for field in kind)
    return bool(is_.is_binary(kind) or is_.is_large_binary(kind))


def is_vectors(arrow: Any, kind: Any) -> bool:
    """Lists of numbers."""
    is_ = arrow.types
    lists = is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind)
    return bool(lists and (is_.is_floating(kind.value_type) or is_.is_integer(kind.value_type)))


def table_rows(
    place: Place, groups: Sequence[int], columns: Columns, batch: int
) -> Iterator[tuple[list[Any], NDArray[Any] | list[bytes | None]]]:
    """The rows of some row groups, a batch at a time: ids, and vectors (n, d) or contents of pictures."""
    arrow, parquet = arrow_and_parquet()
    assert columns.content is not None  # the part names it
    names = [columns.id, columns.content]
    with place.open() as content, refused_as(str(place), KIND, arrow.ArrowException, OSError, KeyError):
        file = parquet.ParquetFile(content)
        for rows in file.iter_batches(batch_size=batch, row_groups=list(groups), columns=names):
            ids, column = rows.column(columns.id), rows.column(columns.content)
            if ids.null_count:
                raise UserError(f"{place} has rows without an id: mend them")
            if is_vectors(arrow, column.type):
                yield ids.to_pylist(), _vectors(column, place)
            else:
                contents = column.field("bytes") if arrow.types.is_struct(column.type) else column
                yield ids.to_pylist(), contents.to_pylist()


def _vectors(column: Any, place: Place) -> NDArray[Any]:
    """(n, d); ``flatten`` leaves out the rows that are null, which are refused before."""
    values = column.flatten()
    width, rest = divmod(len(values), len(column))
    lengths = set(column.value_lengths().to_pylist()) if hasattr(column, "value_lengths") else {width}
    if column.null_count or values.null_count or rest or lengths != {width}:
        raise UserError(f"{place} has rows without a vector, or vectors of different lengths: mend them")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(column), width)
