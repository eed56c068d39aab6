"""pts3h encode: write codes."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..data.items import read_items
from ..errors import UserError
from ..exchange.about import About
from ..exchange.beside import BESIDE_NPY, refuse_existing
from ..exchange.items import Batch, Outgoing
from ..exchange.npy import write_npy
from ..settings.asked import Network
from .arguments import ItemsSource, ModelFolder, Root
from .output import AsJson, bits_facts, say

EXAMPLE = "pts3h encode model/ photos/ --out codes.npy"


def encode(
    model: ModelFolder,
    items: ItemsSource,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help=".npy for the codes; beside it go the ids, .ids.txt, and what the codes are, .about.json.",
        ),
    ],
    network: Annotated[Network, typer.Option(help="'teacher', or 'student' for variant S.")] = "teacher",
    root: Root = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the packed codes of items, one row per item; unreadable pictures are left out and named."""
    if not overwrite:
        refuse_existing(out, BESIDE_NPY)
    encoder = pts3h.load_model(model)
    encoded = encoder.encode(read_items(items, root=root), network=network)
    if not encoded.ids:
        reasons = list(encoded.skipped.values())
        raise UserError(f"none of the {len(reasons)} pictures can be read, the first: {reasons[0]}")
    made_by = encoder.fingerprint if network == "teacher" else None  # it stands for the codes of the teacher
    about = About(encoded.layout, made_by, "text")
    write_npy(out, Outgoing(about, [Batch(encoded.ids, encoded.codes)]))
    if as_json:
        facts = {"codes": str(out), "items": len(encoded.ids), **bits_facts(encoded.layout)}
        print(json.dumps({**facts, "skipped": encoded.skipped}))
        return
    for reason in encoded.skipped.values():
        say(f"skipped {reason}")
    say(f"{len(encoded.ids):,} codes of {encoded.layout} are in {out}")
