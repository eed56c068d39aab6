"""pts3h data: get a data set."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ..data.datasets.table import DATASETS, load_dataset
from .output import AsJson

EXAMPLE = "pts3h data cifar10"


def data(
    name: Annotated[str, typer.Argument(help=f"{', '.join(DATASETS.names())}.")],
    folder: Annotated[
        Path | None, typer.Option("--from", help="Where you keep the archive, or list files and images.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split.")] = 0,
    split: Annotated[
        Path | None, typer.Option(help="Write the split by the paper's protocol to this JSON file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Get a data set into the cache, verify it, and show how the paper's protocol splits it."""
    dataset = load_dataset(name, folder)
    drawn = dataset.split(seed)
    if split is not None:
        drawn.save(split)
    facts: dict[str, int | str] = {
        "data_set": name,
        "items": len(dataset.items),
        "queries": len(drawn.queries),
        "labelled": len(drawn.labelled),
        "database": len(drawn.database),
        "split": drawn.digest(),
    }
    if as_json:
        print(json.dumps(facts))
        return
    for fact, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) else value
        print(f"{fact.replace('_', ' '):<10} {shown}")
