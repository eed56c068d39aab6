"""pts3h report: a page by which to judge a model."""

from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..data.items import Items, read_items
from ..data.known_pairs import KnownPairs
from ..data.pair_files import read_supervision
from ..errors import UserError
from ..report import write_report
from .arguments import ItemsSource, ModelFolder, Root
from .output import say

EXAMPLE = "pts3h report model/ photos/ --pairs pairs.csv --out report.html"


def report(
    model: ModelFolder,
    items: ItemsSource,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    pairs: Annotated[Path | None, typer.Option(help="Known pairs to compare with, as for fit.")] = None,
    labels: Annotated[str | None, typer.Option(help="Or labels, as for fit.")] = None,
    queries: Annotated[int, typer.Option(help="How many queries to show.")] = 8,
    seed: Annotated[int, typer.Option(help="Draws the queries and whatever else is a sample.")] = 0,
    root: Root = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
) -> None:
    """Write a page by which to judge a model: what queries find, distances of pairs, course of training."""
    if out.exists() and not overwrite:
        raise UserError(f"{out} exists: choose another file, or replace it with --overwrite")
    collection = read_items(items, root=root)
    known = what_is_known(collection, pairs, labels)
    write_report(pts3h.load_model(model), collection, out, known=known, queries=queries, seed=seed)
    say(f"look at {out}")


def what_is_known(items: Items, pairs: Path | None, labels: str | None) -> KnownPairs | None:
    """The pairs or labels that were given; else those that came with the items, if they are any use."""
    if pairs is not None or labels is not None:
        return read_supervision(items, pairs, labels)
    try:
        return read_supervision(items, None, None)
    except UserError:  # the page does without
        return None
