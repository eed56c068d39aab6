"""Losses, backbones, data sets and systems of a user's own, known to every process of a benchmark."""

from typing import Any

from ..data.datasets.table import DATASETS
from ..losses.table import LOSSES
from ..nets.backbones.table import BACKBONES
from ..systems.table import SYSTEMS
from ..util.table import Table

TABLES: tuple[Table[Any], ...] = (LOSSES, BACKBONES, DATASETS, SYSTEMS)


def own_rows() -> list[list[Any]]:
    """What was brought along in this process, to be sent to another."""
    return [table.own() for table in TABLES]


def keep_rows(rows: list[list[Any]]) -> None:
    """Know in this process what was brought along in another."""
    for table, own in zip(TABLES, rows, strict=True):
        for row in own:
            table.keep(row)
