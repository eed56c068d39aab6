"""pts3h encode: write codes, in this process or on many machines."""

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
from ..spread.job import Spread, encode_on
from ..spread.parts import PART
from ..spread.tables import Columns
from ..util.addresses import shown_address
from ..util.progress import bar_or_lines
from .arguments import ModelFolder, Root
from .output import AsJson, bits_facts, say

EXAMPLE = (
    "pts3h encode model/ photos/ --out codes.npy    or: pts3h encode model/ photos/ --on ray --out codes/"
)
SHOWN = 20  # pictures that cannot be read and are named; there may be many among millions


def encode(
    model: ModelFolder,
    items: Annotated[
        str,
        typer.Argument(
            help="Folder of pictures, .npy of embeddings or images, CSV, or list file; with --on also "
            "Parquet files, .tar shards, and addresses such as s3://bucket/photos."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help=".npy for the codes; beside it go the ids, .ids.txt, and what the codes are, .about.json. "
            "With --on, a folder of Parquet shards.",
        ),
    ],
    network: Annotated[Network, typer.Option(help="'teacher', or 'student' for variant S.")] = "teacher",
    root: Root = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            help="Encode into shards: 'here', by one process; 'ray', by a cluster that is started on this "
            "machine; 'ray:auto', by the one that runs here; ray://HOST:PORT, by another. Run again, it goes "
            "on where it was.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="With --on ray: workers at once; by default, one per core or GPU."),
    ] = None,
    part_size: Annotated[
        int | None,
        typer.Option(min=1, help="With --on: items that a worker encodes at a time. [default: 1024]"),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="With --on: Parquet column of vectors or pictures; by default, the only one there is."
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="With --on: Parquet column of the ids. [default: id]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the packed codes of items, one row per item; unreadable pictures are left out and named."""
    if on is not None:
        if overwrite:
            raise UserError(
                "--overwrite is for an .npy: shards are gone on with; for new ones choose another --out"
            )
        done = encode_on(
            on,
            model,
            items,
            out,
            network=network,
            root=root,
            size=part_size or PART,
            columns=Columns(id_column or "id", column),
            workers=workers,
            progress=bar_or_lines(),
        )
        tell(done, shown_address(out), as_json)
        return
    given = {"--workers": workers, "--part-size": part_size, "--column": column, "--id-column": id_column}
    if idle := [name for name, value in given.items() if value is not None]:
        raise UserError(f"{idle[0]} needs --on: without it, one process writes one .npy")
    encode_here(model, Path(items), Path(out), network, root, overwrite, as_json)


def encode_here(
    model: Path, items: Path, out: Path, network: Network, root: Path | None, overwrite: bool, as_json: bool
) -> None:
    """Encode everything in this process into one array."""
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


def tell(done: Spread, out: str, as_json: bool) -> None:
    """What a run on workers did."""
    if as_json:
        facts = {"codes": out, "items": done.items, "encoded": done.encoded, "shards": done.shards}
        print(json.dumps({**facts, **bits_facts(done.layout), "skipped": done.skipped}))
        return
    for reason in list(done.skipped.values())[:SHOWN]:
        say(f"skipped {reason}")
    if len(done.skipped) > SHOWN:
        say(f"skipped {len(done.skipped) - SHOWN:,} more; --json names all")
    before = done.items - done.encoded
    earlier = f", {before:,} of them by an earlier run" if before else ""
    say(f"{done.items:,} codes of {done.layout} are in {done.shards:,} shards in {out}{earlier}")
