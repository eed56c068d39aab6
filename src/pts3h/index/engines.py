"""The engines an index can be opened with, one row each, and how an address finds its engine.

A row names its function as "package.module:function", so that nothing of an engine is imported before
an index is opened with it.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..codes import DEFAULT_WEIGHT, Layout
from ..errors import UserError
from ..util.addresses import shown_address
from ..util.table import Table, load
from .contract import Index

COMMON = ("layout", "model", "read_only")  # what every engine is called with, besides its own options


@dataclass(frozen=True)
class Engine:
    """One way to hold and search codes.

    Attributes:
        name: what settings call it, and the scheme of its addresses.
        help: what it is, in one line.
        address: what its addresses look like, for messages.
        open: opens an index, or "package.module:function". It is called as
            ``open(address, layout=..., model=..., read_only=..., **options)`` and returns an :class:`Index`.
        writing: options for a program that reads back what it has just written, as ``pts3h index`` does.
        schemes: other schemes of its addresses.
    """

    name: str
    help: str
    address: str
    open: str | Callable[..., Index]
    writing: Mapping[str, Any] = field(default_factory=dict)
    schemes: tuple[str, ...] = ()


ENGINES = Table(
    "engine",
    Engine,
    [
        Engine(
            "local",
            "One folder on this machine: SQLite holds the items, memory is searched.",
            "a folder",
            "pts3h.index.local.index:open_local",
        ),
        Engine(
            "milvus",
            "A collection on a Milvus server, for more codes than one machine holds.",
            "milvus://host:port/collection",
            "pts3h.index.milvus.index:open_milvus",
            writing={"consistency": "session"},  # a server shows a program its own writes only if asked to
        ),
        Engine(
            "postgres",
            "A table in a Postgres database with pgvector, beside the tables that are there.",
            "postgresql://host:port/database/table",
            "pts3h.index.postgres.opening:open_postgres",
            schemes=("postgresql",),
        ),
    ],
)


def engine_of(address: str | Path, engine: str | Engine | None = None) -> Engine:
    """The engine asked for; by default, the one the scheme of the address names, or local without a scheme.

    Args:
        address: where the index is.
        engine: the name of an engine, or an :class:`Engine` of your own. After that, its scheme alone is
            enough to find it.
    """
    if engine is not None:
        return ENGINES.find(engine)
    scheme, mark, _ = os.fspath(address).partition("://")
    name = scheme if mark else "local"
    for row in ENGINES:
        if name == row.name or name in row.schemes:
            return row
    known = " or ".join(one.address for one in ENGINES)
    raise UserError(f"cannot open {shown_address(address)!r}: an index is {known}")


def open_index(
    address: str | Path,
    bits: int | None = None,
    *,
    look_bits: int = 0,
    weight: int = DEFAULT_WEIGHT,
    model: str | None = None,
    read_only: bool = False,
    engine: str | Engine | None = None,
    **options: Any,
) -> Index:
    """Open an index, or create it if there is none yet.

    Args:
        address: a folder, ``milvus://host:port/collection`` or ``postgresql://host:port/database/table``.
        bits: number of learned bits. Needed to create an index; an existing one knows its own.
        look_bits: number of look bits behind them, if the codes have any.
        weight: how much a learned bit counts beside a look bit.
        model: fingerprint of the model that makes the codes; an index of another model is refused.
        read_only: never write. The local engine can then also open a folder without permission to write.
        engine: the name of an engine, or an :class:`Engine` of your own; by default, the address decides.
        options: the engine's own options, such as ``token=`` for Milvus and ``timeout=`` for a server.
    """
    if bits is None and look_bits:
        raise UserError("look_bits= needs bits=: the number of learned bits before them")
    layout = None if bits is None else Layout(bits, look_bits, weight)
    row = engine_of(address, engine)
    opened_by = load(row.open)
    _check_options(row, opened_by, options)
    index: Index = opened_by(os.fspath(address), layout=layout, model=model, read_only=read_only, **options)
    return index


def _check_options(row: Engine, opened_by: Callable[..., Index], options: Mapping[str, Any]) -> None:
    """Refuse an option the engine does not have. The call itself could not: its TypeErrors may be bugs."""
    _, *others = inspect.signature(opened_by).parameters.values()  # all but the address
    if any(one.kind is one.VAR_KEYWORD for one in others):
        return
    known = [one.name for one in others if one.name not in COMMON]
    for name in options:
        if name not in known:
            there_are = f"it has {', '.join(known)}" if known else "it has none"
            raise UserError(f"the {row.name} engine has no option {name!r}; {there_are}")
