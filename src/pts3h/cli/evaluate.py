"""pts3h evaluate: measure retrieval."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..codes import DEFAULT_WEIGHT
from ..data.items import load_array
from ..errors import UserError
from ..evaluation import Order
from .arguments import SearchBy
from .output import AsJson

EXAMPLE = "pts3h evaluate queries.npy database.npy --bits 48 --query-labels yq.npy --database-labels yd.npy"


def evaluate(
    queries: Annotated[Path, typer.Argument(help=".npy of packed query codes.")],
    database: Annotated[Path, typer.Argument(help=".npy of packed database codes.")],
    bits: Annotated[int, typer.Option("--bits", "-b", help="Number of learned bits.")],
    look_bits: Annotated[int, typer.Option(help="Number of look bits behind them.")] = 0,
    weight: Annotated[
        int, typer.Option(help="How much a learned bit counts beside a look bit.")
    ] = DEFAULT_WEIGHT,
    by: SearchBy = "both",
    query_labels: Annotated[Path | None, typer.Option(help=".npy of the queries' labels.")] = None,
    database_labels: Annotated[Path | None, typer.Option(help=".npy of the database's labels.")] = None,
    relevant: Annotated[
        Path | None, typer.Option(help="Instead of labels: .npy (queries, database) of booleans.")
    ] = None,
    map_at: Annotated[int | None, typer.Option(help="Also MAP over this many first ranks.")] = None,
    order: Annotated[Order, typer.Option(help="How ties are broken.")] = "expected",
    as_json: AsJson = False,
) -> None:
    """Measure retrieval: MAP, precision within radius 2, precision at 100 and 1000; ties by expectation."""
    if (query_labels is None) != (database_labels is None):
        raise UserError("give both --query-labels and --database-labels")
    labels = None
    if query_labels is not None and database_labels is not None:
        labels = load_array(query_labels), load_array(database_labels)
    matrix = None if relevant is None else load_array(relevant)
    codes = load_array(queries), load_array(database)
    report = pts3h.evaluate(
        *codes, matrix, bits=bits, look_bits=look_bits, weight=weight, by=by, labels=labels, order=order
    )
    figures = report.summary(map_at=map_at)
    if as_json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):<22} {value:.4f}")
