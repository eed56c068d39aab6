"""pts3h import: add the codes of a file to an index."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ..codes import DEFAULT_WEIGHT
from ..exchange import import_index
from ..index.engines import ENGINES
from .file_format import FileFormat
from .output import AsJson, bits_facts, say

EXAMPLE = "pts3h import photos.parquet --to photos.index"


def import_(
    file: Annotated[Path, typer.Argument(help="What pts3h export or another program wrote.")],
    to: Annotated[str, typer.Option("--to", help=f"{' or '.join(engine.address for engine in ENGINES)}.")],
    format: FileFormat = None,
    bits: Annotated[
        int | None, typer.Option("--bits", "-b", help="Number of learned bits, if the file does not say.")
    ] = None,
    look_bits: Annotated[int, typer.Option(help="Number of look bits behind them, likewise.")] = 0,
    weight: Annotated[
        int, typer.Option(help="How much a learned bit counts beside a look bit, likewise.")
    ] = DEFAULT_WEIGHT,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Add to an index that holds items: those of the same id are replaced."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add the codes, ids and metadata of a file to an index, which is created if there is none yet."""
    done = import_index(
        file, to, format=format, bits=bits, look_bits=look_bits, weight=weight, overwrite=overwrite
    )
    if as_json:
        facts = {"index": to, "format": done.format, "items": done.items, "count": done.count}
        print(json.dumps({**facts, **bits_facts(done.layout)}))
        return
    say(f"{done.items:,} codes of {done.layout} are read from {file}; {to} holds {done.count:,} items")
