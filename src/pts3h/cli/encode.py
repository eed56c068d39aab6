"""pts3h encode: write codes."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..data.items import read_items
from ..errors import UserError
from ..settings.asked import Network
from ..util.files import array_writer, text_writer, write_together
from .arguments import ItemsSource, ModelFolder, Root
from .output import AsJson, bits_facts, say

EXAMPLE = "pts3h encode model/ photos/ --out codes.npy"


def encode(
    model: ModelFolder,
    items: ItemsSource,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help=".npy for the codes; the ids go beside it as .ids.txt, a line each."
        ),
    ],
    network: Annotated[Network, typer.Option(help="'teacher', or 'student' for variant S.")] = "teacher",
    root: Root = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the packed codes of items, one row per item; unreadable pictures are left out and named."""
    ids_file = out.with_suffix(".ids.txt")
    for path in (out, ids_file):
        if path.exists() and not overwrite:
            raise UserError(f"{path} exists: choose another file, or replace it with --overwrite")
    encoded = pts3h.load_model(model).encode(read_items(items, root=root), network=network)
    if not encoded.ids:
        reasons = list(encoded.skipped.values())
        raise UserError(f"none of the {len(reasons)} pictures can be read, the first: {reasons[0]}")
    names = "".join(f"{one_line(name)}\n" for name in encoded.ids)
    write_together({out: array_writer(encoded.codes), ids_file: text_writer(names)})
    if as_json:
        facts = {"codes": str(out), "items": len(encoded.ids), **bits_facts(encoded.layout)}
        print(json.dumps({**facts, "skipped": encoded.skipped}))
        return
    for reason in encoded.skipped.values():
        say(f"skipped {reason}")
    say(f"{len(encoded.ids):,} codes of {encoded.layout} are in {out}")


def one_line(name: str) -> str:
    """An id as one line: as it is, or as JSON if it has a line break, or looks like JSON."""
    return name if name.splitlines() == [name] and not name.startswith('"') else json.dumps(name)
