"""Codes as a Parquet table: ``id`` (integers or text), ``code`` (bytes of one width), ``meta`` (JSON text).

Metadata is one column of JSON text, not a column per key: items may have any keys, with values of any kind,
and it comes back as it was. What the codes are is in the metadata of the file, under ``pts3h``.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..codes import code_bytes
from ..errors import UserError
from ..index.contract import SCAN_BATCH
from ..util.extras import from_extra
from ..util.files import write_atomic
from .about import About
from .items import Batch, Incoming, Outgoing
from .meta_text import meta_texts, read_meta_text
from .unreadable import refused_as

KIND = "Parquet"
KEY = b"pts3h"  # in the metadata of the file
ROW_GROUP = 131_072  # rows that readers take at once


def arrow_and_parquet() -> tuple[Any, Any]:
    """The modules that read and write it."""
    arrow = from_extra("pyarrow", "parquet", wants="a Parquet file")
    return arrow, from_extra("pyarrow.parquet", "parquet", wants="a Parquet file")


def write_parquet(path: Path, items: Outgoing) -> None:
    """Write the table, some rows at a time."""
    write_atomic(path, parquet_writer(items))


def parquet_writer(items: Outgoing, said: Mapping[bytes, str] | None = None) -> Callable[[BinaryIO], None]:
    """Writes the table into a file that is open.

    Args:
        items: what to write.
        said: more to say in the metadata of the file, beside what the codes are.
    """
    arrow, parquet = arrow_and_parquet()
    about = items.about
    columns = {
        "id": arrow.string() if about.ids == "text" else arrow.int64(),
        "code": arrow.binary(code_bytes(about.layout.bits)),
        "meta": arrow.string(),
    }
    schema = arrow.schema([arrow.field(name, kind, name == "meta") for name, kind in columns.items()])

    def write(file: BinaryIO) -> None:
        # random bits do not repeat, so that only metadata gains from a dictionary; checksums show damage
        options = {"compression": "zstd", "use_dictionary": ["meta"], "write_page_checksum": True}
        known = {KEY: about.to_json(), **(said or {})}
        with parquet.ParquetWriter(file, schema.with_metadata(known), **options) as writer:
            waiting: list[Any] = []
            for batch in items.batches:
                waiting.append(arrow.table(_columns(batch), schema=schema))
                if sum(map(len, waiting)) >= ROW_GROUP:
                    writer.write_table(arrow.concat_tables(waiting), row_group_size=ROW_GROUP)
                    waiting.clear()
            if waiting:
                writer.write_table(arrow.concat_tables(waiting))

    return write


def _columns(batch: Batch) -> dict[str, list[Any]]:
    return {"id": batch.ids, "code": [code.tobytes() for code in batch.codes], "meta": meta_texts(batch)}


def read_parquet(path: Path | str, content: BinaryIO | None = None) -> Incoming:
    """Any table with the columns ``id`` and ``code``, and maybe ``meta``; others are passed over.

    Args:
        path: the file.
        content: of a file that is open already, and that messages call ``path``.
    """
    arrow, parquet = arrow_and_parquet()
    with refused_as(path, KIND, arrow.ArrowException, OSError):
        file = parquet.ParquetFile(content or path, page_checksum_verification=True)
        kinds = {field.name: field.type for field in file.schema_arrow}
        said = (file.metadata.metadata or {}).get(KEY)
    about = None if said is None else About.from_json(said, path)
    _check_columns(arrow, kinds, about is not None, path)
    names = [name for name in ("id", "code", "meta") if name in kinds]
    return Incoming(file.metadata.num_rows, _batches(arrow, file, names, path), about)


def _check_columns(arrow: Any, kinds: dict[str, Any], ours: bool, path: Path | str) -> None:
    """Raise unless there are ids and codes, and metadata is text; a file of ours has a column for it."""
    is_ = arrow.types
    texts = (is_.is_string, is_.is_large_string)
    for name, known, wanted in (
        ("id", (is_.is_integer, *texts), "integers or text"),
        ("code", (is_.is_fixed_size_binary, is_.is_binary, is_.is_large_binary), "bytes"),
        ("meta", texts, "JSON as text"),
    ):
        kind = kinds.get(name)
        if kind is None and (ours or name != "meta"):
            raise UserError(f"{path} has no column {name!r} ({wanted}); it has {', '.join(kinds)}")
        if kind is not None and not any(is_one(kind) for is_one in known):
            raise UserError(f"the column {name!r} of {path} must hold {wanted}, and it holds {kind}")


def _batches(arrow: Any, file: Any, names: list[str], path: Path | str) -> Iterator[Batch]:
    with refused_as(path, KIND, arrow.ArrowException, OSError):
        for part in file.iter_batches(batch_size=SCAN_BATCH, columns=names):
            columns = part.to_pydict()
            ids, codes = columns["id"], columns["code"]
            widths = {-1 if code is None else len(code) for code in codes}
            if None in ids or -1 in widths or len(widths) > 1:
                raise UserError(
                    f"{path} has rows without id or code, or codes of different widths: mend them"
                )
            array = np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), -1)
            texts = columns.get("meta", [None] * len(ids))
            meta = [read_meta_text(text, one, path) for text, one in zip(texts, ids, strict=True)]
            yield Batch(ids, array, meta)
