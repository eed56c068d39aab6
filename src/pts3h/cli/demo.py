"""pts3h demo: see what PTS3H gains."""

from pathlib import Path
from typing import Annotated

import typer

from ..util.extras import require

EXAMPLE = "pts3h demo --out demo-output"


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for table, gallery and model.")] = Path(
        "demo-output"
    ),
    images: Annotated[int, typer.Option(help="Pictures to use.")] = 12_000,
    label_count: Annotated[list[int] | None, typer.Option(help="Labelled pictures; repeatable.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs to average.")] = 3,
    bits: Annotated[int, typer.Option("--bits", "-b", help="Code length.")] = 48,
    data: Annotated[
        str | None, typer.Option(help="Data set; by default CIFAR-10, else the first that can be loaded.")
    ] = None,
) -> None:
    """Train PTS3H and its baseline on real pictures, print a table, write a gallery and a model."""
    require("torch", "training")
    from ..bench.demo import run_demo  # brings torch

    counts = tuple(label_count or (100, 500))
    run_demo(out, images=images, label_counts=counts, seeds=seeds, bits=bits, dataset=data)
