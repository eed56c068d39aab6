"""Everything a folder of cells has to say: tables, curves, and one page that holds them all."""

import html
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..util.files import write_atomic, write_text
from ..util.markup import table
from ..util.pictures import as_data
from ..util.sealed import unsealed
from .cells import Result, read_results
from .leaderboard import leaderboard, rivals
from .plots import Plot, all_plots
from .provenance import counts_as
from .summary import Summary, summarise
from .tables import (
    Table,
    map_table,
    precision_table,
    significance_table,
    time_table,
    to_csv,
    to_latex,
    to_markdown,
    tuning_table,
)
from .tuning import Tries, read_tries

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 2rem; font-size: .9rem; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
tbody th { font-weight: 400; }
.wide { overflow-x: auto; } caption { text-align: left; font-weight: 600; padding: .3rem 0; }
img { max-width: 100%; } dt { font-weight: 600; }
pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; }
"""
SVG = "image/svg+xml"
NOTE = (
    "Mean and standard deviation over seeds; each seed draws its own split, the same for every method. Ties "
    "in Hamming distance count by expectation. The paper's figures are of a fine-tuned AlexNet (VGG-F for "
    "SSDH, BGDH and DSDH): mind the settings below before comparing."
)


def tables_of(summaries: Sequence[Summary], ranks: int | None, tries: Tries) -> list[Table]:
    """All tables: MAP and precision for each number of labels, who wins, gains, what was chosen, times."""
    tables = []
    for labels in sorted({s.labels for s in summaries}, reverse=True):
        tables += [map_table(summaries, labels, ranks), precision_table(summaries, labels)]
    more = (leaderboard(summaries), rivals(summaries), significance_table(summaries), tuning_table(tries))
    return [*tables, *(one for one in more if one), time_table(summaries)]


def write_report(folder: Path) -> list[Table]:
    """Read the cells of a folder, write every form of report beside them, and return the tables."""
    results, note = read_results(folder), read_note(folder)
    summaries = summaries_of(results, note)
    if not summaries:
        raise UserError(f"{folder} holds no finished cell yet")
    tables = tables_of(summaries, results[0]["map_at"], read_tries(folder))
    plots = all_plots(results, summaries)
    write_text(folder / "table.md", "\n".join(map(to_markdown, tables)))
    write_text(folder / "table.tex", "\n".join(map(to_latex, tables)))
    write_text(folder / "table.csv", to_csv(summaries))
    for plot in plots:
        write_bytes(folder / f"{plot.name}.png", plot.png)
        write_bytes(folder / f"{plot.name}.svg", plot.svg)
    write_text(folder / "report.html", page(note, code_text(results), tables, plots))
    return tables


def write_bytes(path: Path, content: bytes) -> None:
    """Write a picture, atomically."""
    write_atomic(path, lambda file: file.write(content))


def code_text(results: Sequence[Result]) -> str:
    """Which versions of the code made the cells; each system has code of its own."""
    versions: dict[str, Counter[str]] = {}
    for result in results:
        method = result["cell"].method
        code = counts_as(result.get("code"), method) or "a version that does not say"
        versions.setdefault(method, Counter())[code] += 1
    mixed = {method: counts for method, counts in versions.items() if len(counts) > 1}
    if not mixed:
        silent = any("code" not in result for result in results)
        return "code that does not say its version" if silent else "one version of each system's code"
    parts = [
        f"{method}: " + ", ".join(f"{code} ({count} runs)" for code, count in counts.most_common())
        for method, counts in mixed.items()
    ]
    return f"several versions of the code ({'; '.join(parts)})"


def read_note(folder: Path) -> dict[str, Any]:
    """What was run in a folder."""
    try:
        return unsealed(json.loads((folder / "bench.json").read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is not a folder of pts3h bench: no readable bench.json") from error


def summaries_of(results: Sequence[Result], note: dict[str, Any]) -> list[Summary]:
    """Summaries; the paper's figures are beside ours only for its whole data sets."""
    setup = note["setup"]
    return summarise(results, setup["dataset"] if setup["images"] is None else "")


def page(note: dict[str, Any], code: str, tables: Sequence[Table], plots: Sequence[Plot]) -> str:
    """One HTML page that needs nothing else."""
    setup = note["setup"]
    settings = setup["settings"] | setup["of"]
    facts = {
        "data set": setup["dataset"],
        "images": setup["images"] or "all",
        "settings": json.dumps(settings) if settings else "defaults",
        "code": code,
    }
    lines = "".join(f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts.items())
    title = f"pts3h bench: {html.escape(setup['dataset'])}"
    commands = html.escape("\n".join(note["commands"]))
    shown = "".join(table(one.title, one.header, one.rows) for one in tables)
    pictures = "".join(
        f'<figure><img alt="{html.escape(plot.title)}" src="{as_data(plot.svg, SVG)}"></figure>\n'
        for plot in plots
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1><p>{NOTE}</p><dl>{lines}</dl>"
        f"<pre>{commands}</pre>\n{shown}{pictures}</body></html>\n"
    )
