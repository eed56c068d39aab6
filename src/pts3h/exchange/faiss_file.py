"""Codes as a faiss index, ``IndexBinaryIDMap2`` over ``IndexBinaryFlat``, which faiss can search as it is.

faiss counts in whole bytes: a code of 12 bits is one of 16 there, of which the last 4 are zero, so that
distances are the same. Its ids are integers. Where ours are text, it gets the numbers of their lines, from 0,
in a file beside it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, code_bytes
from ..errors import UserError
from ..index.contract import SCAN_BATCH
from ..util.extras import from_extra
from ..util.files import text_writer, write_together
from .beside import BESIDE_FAISS, check_ids_file, kept_lines, read_about, read_ids
from .items import Incoming, Outgoing, in_batches, numbered
from .unreadable import refused_as

Numbers = NDArray[np.int64]


def _faiss() -> Any:
    return from_extra("faiss", "faiss", wants="a faiss file")


def write_faiss(path: Path, items: Outgoing) -> None:
    """Write the index, and beside it what it is of and its ids, if they are text.

    A crash while they take their places may leave a part of them, from which nothing is imported.
    """
    faiss, about = _faiss(), items.about
    text = about.ids == "text"
    flat = faiss.IndexBinaryFlat(8 * code_bytes(about.layout.bits))
    index = faiss.IndexBinaryIDMap2(flat)
    numbers: list[Numbers] = []
    ids_file, about_file = map(path.with_suffix, BESIDE_FAISS)
    with kept_lines(path) as lines:
        for batch in items.batches:
            flat.add(batch.codes)
            if text:
                lines.add(batch.ids)
            else:
                numbers.append(np.array(batch.ids, np.int64))
        # add_with_ids would also make a table from id to place, at three times the memory; whoever reads
        # the file makes it
        ids = np.arange(flat.ntotal) if text else np.concatenate(numbers)
        faiss.copy_array_to_vector(ids, index.id_map)
        index.ntotal = flat.ntotal

        def write_index(file: BinaryIO) -> None:
            faiss.write_index_binary(index, faiss.PyCallbackIOWriter(file.write))

        writes = {about_file: text_writer(about.to_json() + "\n")}
        if text:
            writes[ids_file] = lines.write
        write_together({**writes, path: write_index})
        if not text:
            ids_file.unlink(missing_ok=True)  # those of an earlier export


def read_faiss(path: Path) -> Incoming:
    """The codes of a flat binary index, with the ids that it maps them to, or else their numbers."""
    faiss = _faiss()
    codes, numbers = _arrays(faiss, path)
    ids_file, about_file = map(path.with_suffix, BESIDE_FAISS)
    about = read_about(about_file)
    if about is not None and about.ids == "text":
        check_ids_file(ids_file, path, len(codes))
        if not np.array_equal(numbers, np.arange(len(codes))):
            raise UserError(
                f"{path} and {ids_file} do not belong together: its ids are not the numbers of lines"
            )
        ids = in_batches(read_ids(ids_file, "text"))
    else:
        ids = (numbers[at : at + SCAN_BATCH].tolist() for at in range(0, len(numbers), SCAN_BATCH))
    return Incoming(len(codes), numbered(codes, ids), about, bits=8 * codes.shape[1])


def _arrays(faiss: Any, path: Path) -> tuple[Codes, Numbers]:
    with refused_as(path, "a binary index of faiss", RuntimeError), _at_most(faiss, path.stat().st_size):
        index = faiss.read_index_binary(str(path))
    mapped = isinstance(index, (faiss.IndexBinaryIDMap, faiss.IndexBinaryIDMap2))
    flat = faiss.downcast_IndexBinary(index.index) if mapped else index
    if not isinstance(flat, faiss.IndexBinaryFlat):
        raise UserError(f"{path} is a {type(flat).__name__} of faiss; what can be read is IndexBinaryFlat")
    codes = faiss.vector_to_array(flat.xb).reshape(flat.ntotal, flat.code_size)
    return codes, faiss.vector_to_array(index.id_map) if mapped else np.arange(flat.ntotal)


@contextmanager
def _at_most(faiss: Any, size: int) -> Iterator[None]:
    """A damaged file may name any size; nothing in it is larger than the file."""
    if not hasattr(faiss, "set_deserialization_vector_byte_limit"):  # older versions know no bound
        yield
        return
    before = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(size)
    try:
        yield
    finally:
        faiss.set_deserialization_vector_byte_limit(before)
