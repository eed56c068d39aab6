"""What the first pairs are worth, out of the files that benchmarks/first_pairs.py writes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .plots import Plot, blank, saved
from .summary import deviation
from .tables import Table, figure_text

Row = dict[str, Any]
EVEN = 0.5
NEEDS_NO_PAIR = {"itq": "ITQ", "pca": "PCA, rotated"}


def read_curves(folder: Path) -> tuple[list[str], list[Row]]:
    """The commands, and what they printed: a row for each number of pairs, share of alike ones and method."""
    files = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return [file["command"] for file in files], [row for file in files for row in file["rows"]]


def pair_tables(rows: Sequence[Row]) -> list[Table]:
    """MAP by number of pairs, half of them alike; then by the share of alike ones, where several were run."""
    uneven = [row for row in with_pairs(rows) if share_of(row) != EVEN]
    lists = dict.fromkeys((name_of(row), count_of(row)) for row in uneven)
    return [by_count(rows), *(by_share(rows, name, count) for name, count in lists)]


def by_count(rows: Sequence[Row]) -> Table:
    """A row for each collection."""
    even = {(name_of(row), count_of(row)): row for row in with_pairs(rows) if share_of(row) == EVEN}
    without = {(name_of(row), row["system"]): row for row in rows}
    counts = sorted({count for _, count in even})
    lines = []
    for name, row in {name_of(row): row for row in even.values()}.items():
        figures = [without.get((name, system)) for system in NEEDS_NO_PAIR]
        figures += [even.get((name, count)) for count in counts]
        lines.append([name, str(row["bits"]), str(row["seeds"]), *map(figure, figures)])
    header = ["collection", "bits", "seeds", *NEEDS_NO_PAIR.values(), *(f"{count:,}" for count in counts)]
    return Table("MAP by number of known pairs, half of them alike", header, lines)


def by_share(rows: Sequence[Row], name: str, count: int) -> Table:
    """One collection and number of pairs."""
    found = {share_of(row): row for row in with_pairs(rows) if (name_of(row), count_of(row)) == (name, count)}
    shares = sorted(found)
    title = f"{name}, {count} pairs, by the share of alike ones"
    return Table(
        title,
        ["alike", *(f"{share:.0%}" for share in shares)],
        [["MAP", *(figure(found[share]) for share in shares)]],
    )


def pair_plot(rows: Sequence[Row]) -> Plot:
    """A line for each collection, and a dotted one for ITQ."""
    title = "MAP by number of known pairs; dotted: ITQ"
    even = [row for row in with_pairs(rows) if share_of(row) == EVEN]
    names = list(dict.fromkeys(name_of(row) for row in even))
    drawn, axes, colours = blank(len(names))
    for name, colour in zip(names, colours, strict=True):
        line = sorted((count_of(row), float(np.mean(row["map"]))) for row in even if name_of(row) == name)
        axes.plot(*zip(*line, strict=True), marker="o", markersize=4.5, color=colour, label=name)
        for row in rows:
            if name_of(row) == name and row["system"] == "itq":
                axes.axhline(float(np.mean(row["map"])), color=colour, linestyle=":", linewidth=1.2)
    counts = sorted({count_of(row) for row in even})
    axes.set_xscale("symlog", linthresh=20)  # which has a place for 0
    axes.set_xlim(-2, 1.15 * max(counts))
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set(title=title, xlabel="known pairs", ylabel="MAP")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return Plot("first-pairs", title, saved(drawn, "png"), saved(drawn, "svg"))


def with_pairs(rows: Sequence[Row]) -> list[Row]:
    """Without the methods that need no pair."""
    return [row for row in rows if row["system"] not in NEEDS_NO_PAIR]


def name_of(row: Row) -> str:
    """The collection and its size."""
    return f"{row['data']}, {row['items']:,}"


def count_of(row: Row) -> int:
    """How many pairs were known."""
    return int(row["pairs"])


def share_of(row: Row) -> float:
    """How many of them were alike."""
    return float(row["alike"])


def figure(row: Row | None) -> str:
    """Mean and deviation over seeds."""
    if row is None:
        return ""
    figures = np.array(row["map"])
    return figure_text(float(figures.mean()), deviation(figures), len(figures))
