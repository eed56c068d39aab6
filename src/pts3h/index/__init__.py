"""Search over binary codes: one contract, a local engine and Milvus behind it."""

from pathlib import Path
from typing import Any

from ..codes import check_bits
from ..errors import UserError
from .contract import Hits, Id, Index, Item

__all__ = ["Hits", "Id", "Index", "Item", "open_index"]


def open_index(
    address: str | Path,
    bits: int | None = None,
    *,
    model: str | None = None,
    read_only: bool = False,
    **options: Any,
) -> Index:
    """Open an index, or make it where there is none yet.

    Args:
        address: a folder, or ``milvus://host:port/collection``.
        bits: length of the codes. Needed to make an index; an existing one knows its own.
        model: fingerprint of the model that makes the codes; an index of another model is refused.
        read_only: never write. For the local engine this also works on a folder nobody may write to.
        options: what else the engine takes, such as ``token=`` and ``timeout=`` for Milvus.
    """
    if bits is not None:
        bits = check_bits(bits)
    if isinstance(address, str) and address.startswith("milvus://"):
        from .milvus.index import open_milvus

        return open_milvus(address, bits=bits, model=model, read_only=read_only, **options)
    if isinstance(address, str) and "://" in address:
        raise UserError(f"cannot open {address!r}: an index is a folder or milvus://host:port/collection")
    if options:
        raise UserError(f"the local index has no option {sorted(options)[0]!r}")
    from .local.index import open_local

    return open_local(Path(address), bits=bits, model=model, read_only=read_only)
