"""From an index to a file, and from a file to an index."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..codes import DEFAULT_WEIGHT, Layout, check_codes
from ..errors import UserError
from ..index.contract import Index
from ..index.engines import engine_of, open_index
from ..util.addresses import shown_address
from ..util.progress import Advance, Progress, bar
from ..util.table import load
from .about import About
from .beside import refuse_existing
from .formats import Format, format_of
from .items import Batch, Incoming, arriving, leaving


@dataclass(frozen=True)
class Exported:
    """What an export wrote.

    Attributes:
        file: where.
        format: name of the format.
        items: how many.
        about: what their codes are.
        with_meta: whether their metadata went with them.
    """

    file: Path
    format: str
    items: int
    about: About
    with_meta: bool


@dataclass(frozen=True)
class Imported:
    """What an import added.

    Attributes:
        format: name of the format.
        items: how many the file holds.
        count: how many the index holds now; one id for several codes counts once.
        layout: what the bits of its codes are.
    """

    format: str
    items: int
    count: int
    layout: Layout


def export_index(
    index: str | Path,
    file: str | Path,
    *,
    format: str | Format | None = None,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Exported:
    """Write the items of an index into a file that other programs read.

    What others write to the index meanwhile may be in the file or not, each item as a whole.

    Args:
        index: address of the index.
        file: where to; the old file or the new one is there, never half of either.
        format: "parquet", "faiss", "sqlite-vec" or "npy"; by default, the suffix of the file decides.
        overwrite: replace the file.
        progress: show a bar; None asks whether standard error is a terminal.
        options: for :func:`pts3h.open_index`.
    """
    path = Path(file)
    row = format_of(path, format)
    if not overwrite:
        refuse_existing(path, row.beside)
    count = 0
    with (
        open_index(index, read_only=True, **options) as source,
        bar("exporting", source.count, unit="items", progress=progress) as advance,
    ):

        def counted(more: int) -> None:
            nonlocal count
            count += more
            advance(more)

        items = leaving(source, with_meta=row.holds_meta, advance=counted)
        if items is None:
            raise UserError(f"the index {shown_address(index)} holds no items: there is nothing to export")
        load(row.write)(path, items)
    return Exported(path, row.name, count, items.about, row.holds_meta)


def import_index(
    file: str | Path,
    index: str | Path,
    *,
    format: str | Format | None = None,
    bits: int | None = None,
    look_bits: int = 0,
    weight: int = DEFAULT_WEIGHT,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Imported:
    """Add the items of a file to an index, which is created if there is none yet.

    If it is stopped, the items so far are in the index. To import all of them again does no harm.

    Args:
        file: what :func:`export_index` or another program wrote.
        index: address of the index.
        format: as in :func:`export_index`.
        bits: number of learned bits, for a file that does not say.
        look_bits: number of look bits behind them, likewise.
        weight: how much a learned bit counts beside a look bit, likewise.
        overwrite: add to an index that holds items already: those with the same id are replaced, others stay.
        progress: show a bar; None asks whether standard error is a terminal.
        options: for :func:`pts3h.open_index`.
    """
    path = Path(file)
    row = format_of(path, format)
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    items: Incoming = load(row.read)(path)
    layout = _layout(items, bits, look_bits, weight, path)
    batches = arriving(items, path)
    first = next(batches, None)
    if first is None:
        raise UserError(f"{path} holds no codes: there is nothing to import")
    check_codes(first.codes, layout.bits)  # before there is an index
    with (
        open_index(
            index,
            layout.meaning,
            look_bits=layout.look,
            weight=layout.weight,
            model=None if items.about is None else items.about.model,
            **{**engine_of(index, options.get("engine")).writing, **options},
        ) as target,
        bar("importing", items.count, unit="items", progress=progress) as advance,
    ):
        if not overwrite and (held := target.count):
            raise UserError(
                f"the index {shown_address(index)} holds {held:,} items already: choose another, or add to "
                "it with --overwrite, which replaces items of the same id"
            )
        _add(target, chain([first], batches), advance)
        return Imported(row.name, items.count, target.count, layout)


def _layout(items: Incoming, bits: int | None, look_bits: int, weight: int, path: Path) -> Layout:
    """What the bits of the codes are, by the file or by the user, who must agree."""
    if bits is None and look_bits:
        raise UserError("look_bits= needs bits=: the number of learned bits before them")
    asked = None if bits is None else Layout(bits, look_bits, weight)
    said = None if items.about is None else items.about.layout
    if asked is not None and said is not None and asked != said:
        raise UserError(f"{path} says that its codes have {said} of weight {said.weight}: leave --bits out")
    if known := asked or said:
        return known
    if items.bits is None:
        raise UserError(f"{path} does not say how many bits its codes have: give --bits")
    return Layout(items.bits)


def _add(index: Index, batches: Iterator[Batch], advance: Advance) -> None:
    done = 0
    for batch in batches:
        try:
            index.add(batch.ids, batch.codes, batch.meta)
        except UserError as error:
            raise UserError(f"{error} ({done:,} items before that are in the index)") from error
        done += len(batch.ids)
        advance(len(batch.ids))
