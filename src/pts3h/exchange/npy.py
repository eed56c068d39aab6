"""Codes as ``codes.npy``, with ``codes.ids.txt`` and ``codes.about.json`` beside it."""

from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from ..codes import code_bytes
from ..data.items import load_array
from ..errors import UserError
from ..util.files import text_writer, write_together
from .beside import BESIDE_NPY, check_ids_file, kept_lines, read_about, read_ids
from .items import Incoming, Outgoing, in_batches, numbered


def write_npy(path: Path, items: Outgoing) -> None:
    """Write codes and ids together: the old ones or the new ones."""
    width = code_bytes(items.about.layout.bits)
    with kept_lines(path) as lines:

        def write_codes(file: BinaryIO) -> None:
            count = 0
            _write_header(file, count, width)
            for batch in items.batches:
                file.write(batch.codes.tobytes())
                lines.add(batch.ids)
                count += len(batch.ids)
            file.seek(0)
            _write_header(file, count, width)

        about = text_writer(items.about.to_json() + "\n")
        ids_file, about_file = map(path.with_suffix, BESIDE_NPY)
        write_together({path: write_codes, ids_file: lines.write, about_file: about})


def _write_header(file: BinaryIO, count: int, width: int) -> None:
    """As long for any count: numpy leaves room for an array to grow."""
    npy.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (count, width)})


def read_npy(path: Path) -> Incoming:
    """Codes from the array, ids from beside it; text, unless it is said there that they are numbers."""
    codes = load_array(path)
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise UserError(
            f"{path} holds {codes.dtype} {codes.shape}, no packed codes: they are uint8 (n, bytes)"
        )
    ids_file, about_file = map(path.with_suffix, BESIDE_NPY)
    check_ids_file(ids_file, path, len(codes))
    about = read_about(about_file)
    ids = read_ids(ids_file, "text" if about is None else about.ids)
    return Incoming(len(codes), numbered(codes, in_batches(ids)), about)
