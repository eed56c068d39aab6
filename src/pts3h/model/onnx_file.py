"""The ONNX file of a model says at its end which model it is of, and has a digest of all before.

It is an entry of its metadata. Parts of such a file may come in any order, so that one can be put last: a
reader of ONNX takes it for one of many, and here it is found without reading the graph.
"""

import hashlib
from pathlib import Path

from ..errors import UserError

DIGITS = 64  # of the digest


def sealed_onnx(content: bytes, fingerprint: str) -> bytes:
    """The file of the model of this fingerprint."""
    return content + ending(fingerprint, hashlib.sha256(content).hexdigest())


def is_file_of(path: Path, fingerprint: str) -> bool:
    """Whether there is a file, and it says that it is of this model."""
    wanted = ending(fingerprint, "0" * DIGITS)
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - len(wanted), 0))
            return file.read()[:-DIGITS] == wanted[:-DIGITS]
    except OSError:
        return False


def check_onnx(path: Path, content: bytes, fingerprint: str) -> None:
    """Refuse the content of such a file if it is not what was written."""
    body = memoryview(content)[: -len(ending(fingerprint, "0" * DIGITS))]
    if content[len(body) :] != ending(fingerprint, hashlib.sha256(body).hexdigest()):
        raise UserError(f"{path} is damaged: write it anew with pts3h export MODEL --onnx")


def ending(fingerprint: str, digest: str) -> bytes:
    """The last entry of the metadata, written as protocol buffers are: tag, length, content."""
    name, value = b"pts3h", f"{fingerprint} {digest}".encode()
    entry = b"\x0a" + bytes([len(name)]) + name + b"\x12" + bytes([len(value)]) + value
    return b"\x72" + bytes([len(entry)]) + entry
