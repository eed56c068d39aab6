"""Tables of a benchmark, and the forms they are printed in: terminal, Markdown, CSV, LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as Shown

from ..systems.table import SYSTEMS
from ..util.console import plain_console
from .summary import Summary, holm
from .tuning import Tries, best_try

KINDS = ("semi-supervised", "supervised", "unsupervised")
WORDS = (
    "method",
    "kind",
    "base",
    "collection",
    "chosen",
    "best PTS3H",
    "best other system",
)  # columns that are not numbers
LATEX_SPECIAL = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "±": r"$\pm$", "≤": r"$\le$"}
CSV_HEADER = (
    "method",
    "bits",
    "labels",
    "seeds",
    "map",
    "map_std",
    "precision_within_2",
    "precision_within_2_std",
    "seconds",
    "paper_map",
    "paper_precision_within_2",
    "base",
    "gain",
    "p",
)


@dataclass(frozen=True)
class Table:
    """Text in rows and columns.

    Attributes:
        title: one line.
        header: names of the columns.
        rows: as many entries each; the first is the name.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def map_table(summaries: Sequence[Summary], labels: int, ranks: int | None) -> Table:
    """MAP by method and code length, the paper's figure beside ours."""
    name = "MAP" if ranks is None else f"MAP@{ranks}"
    ours = {
        (s.method, s.bits): (s.map, s.map_deviation, s.seeds, s.paper)
        for s in summaries
        if s.labels == labels
    }
    return by_bits(f"{name}, {labels:,} labelled items", ours)


def precision_table(summaries: Sequence[Summary], labels: int) -> Table:
    """Precision within Hamming radius 2 by method and code length."""
    ours = {
        (s.method, s.bits): (s.precision, s.precision_deviation, s.seeds, s.paper_precision)
        for s in summaries
        if s.labels == labels
    }
    return by_bits(f"Precision within Hamming radius 2, {labels:,} labelled items", ours)


def by_bits(title: str, figures: dict[tuple[str, int], tuple[float, float, int, float | None]]) -> Table:
    """A table with a column for each code length, and one for the paper's figures where it has any."""
    lengths = sorted({bits for _, bits in figures})
    of_paper = {bits for (_, bits), figure in figures.items() if figure[3] is not None}
    header = ["method", "kind"]
    for bits in lengths:
        header += [f"{bits} bits", "paper"] if bits in of_paper else [f"{bits} bits"]
    rows = []
    methods = dict.fromkeys(method for method, _ in figures)
    for method in sorted(methods, key=lambda name: KINDS.index(SYSTEMS.find(name).kind)):
        row = [SYSTEMS.find(method).label, SYSTEMS.find(method).kind]
        for bits in lengths:
            mean, deviation, seeds, paper = figures.get((method, bits), (None, 0.0, 0, None))
            row.append(figure_text(mean, deviation, seeds))
            if bits in of_paper:
                row.append("" if paper is None else f"{paper:.3f}")
        rows.append(row)
    return Table(title, header, rows)


def significance_table(summaries: Sequence[Summary]) -> Table | None:
    """Each PTS3H against its base on the same splits; None where no base was run."""
    compared = [(s, s.against) for s in summaries if s.against is not None]
    corrected = holm([against.p for _, against in compared])
    rows = [
        [
            SYSTEMS.find(s.method).label,
            SYSTEMS.find(against.base).label,
            f"{s.bits}",
            f"{s.labels}",
            f"{s.seeds}",
            f"{against.base_map:.4f}",
            f"{against.base_map + against.gain:.4f}",
            f"{against.gain:+.4f}",
            p_text(against.p),
            p_text(p),
        ]
        for (s, against), p in zip(compared, corrected, strict=True)
    ]
    header = ["method", "base", "bits", "labels", "seeds", "base MAP", "MAP", "gain", "p", "Holm"]
    title = (
        "Gain over the base; p of a paired t-test over seeds, two-sided, plain and after Holm's correction "
        "for all tests of this table"
    )
    return Table(title, header, rows) if rows else None


def tuning_table(tries: Tries) -> Table | None:
    """What each system's tries chose; None where nothing was tuned."""
    order = SYSTEMS.names()
    rows = []
    for method, bits, labels in sorted(tries, key=lambda key: (key[2], key[1], order.index(key[0]))):
        scored = tries[method, bits, labels]
        usual, best = scored[0], best_try(scored)
        changed = {name: value for name, value in best.settings.items() if value != usual.settings[name]}
        chosen = ", ".join(f"{name} {value:g}" for name, value in changed.items()) or "as by default"
        scores = f"{usual.score:.4f}", f"{best.score:.4f}"
        rows.append([SYSTEMS.find(method).label, f"{bits}", f"{labels}", f"{len(scored)}", *scores, chosen])
    header = ["method", "bits", "labels", "tries", "by default", "best", "chosen"]
    title = "Tuning: MAP of held-out items among themselves, on a split that is not reported"
    return Table(title, header, rows) if rows else None


def time_table(summaries: Sequence[Summary]) -> Table:
    """Mean seconds of a run, fit and evaluation."""
    lengths = sorted({s.bits for s in summaries})
    seconds = {(s.method, s.bits): s.seconds for s in summaries}
    rows = []
    for method in dict.fromkeys(s.method for s in summaries):
        times = (seconds.get((method, bits)) for bits in lengths)
        rows.append([SYSTEMS.find(method).label, *("" if time is None else f"{time:.0f}" for time in times)])
    return Table("Seconds per run, one core", ["method", *(f"{bits} bits" for bits in lengths)], rows)


def figure_text(mean: float | None, deviation: float, seeds: int) -> str:
    """0.538 ±0.004, or without a deviation where there is one run."""
    if mean is None:
        return ""
    return f"{mean:.3f} ±{deviation:.3f}" if seeds > 1 else f"{mean:.3f}"


def p_text(p: float | None) -> str:
    """A p value to read."""
    return "" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def to_markdown(table: Table) -> str:
    """A Markdown table under its title."""
    rule = ["---" if name in WORDS else "---:" for name in table.header]
    lines = [[*table.header], rule, *table.rows]
    body = "\n".join("| " + " | ".join(text.replace("|", r"\|") for text in line) + " |" for line in lines)
    return f"**{table.title}**\n\n{body}\n"


def to_latex(table: Table) -> str:
    """A LaTeX table with booktabs rules."""

    def line(entries: Sequence[str]) -> str:
        return " & ".join("".join(LATEX_SPECIAL.get(c, c) for c in text) for text in entries) + r" \\"

    columns = "".join("l" if name in WORDS else "r" for name in table.header)
    rows = "\n".join(line(row) for row in table.rows)
    return (
        f"\\begin{{table}}\n\\centering\n\\caption{{{line([table.title])[:-3]}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{line(table.header)}\n\\midrule\n{rows}\n"
        f"\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def to_csv(summaries: Sequence[Summary]) -> str:
    """One row per method, code length and number of labels, in full precision, for other programs."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for s in summaries:
        against = ("", "", "") if s.against is None else (s.against.base, s.against.gain, s.against.p)
        figures = (s.map, s.map_deviation, s.precision, s.precision_deviation, s.seconds)
        writer.writerow((s.method, s.bits, s.labels, s.seeds, *figures, s.paper, s.paper_precision, *against))
    return file.getvalue()


def print_table(table: Table) -> None:
    """On standard output, in full: a figure that is cut off to fit a window would be a wrong one."""
    shown = Shown(*table.header, title=table.title)
    for name, column in zip(table.header, shown.columns, strict=True):
        column.no_wrap = True
        column.justify = "left" if name in WORDS else "right"
    for row in table.rows:
        shown.add_row(*row)
    console = plain_console()
    needed = console.measure(shown, options=console.options.update(width=1000)).maximum
    plain_console(max(console.width, needed)).print(shown)
