"""The paper's figures from the cells of a matrix, as PNG and SVG; matplotlib is imported only on use."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UserError
from ..systems.table import SYSTEMS
from .cells import Result
from .summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line = tuple[str, Sequence[float], Sequence[float]]  # label, x, y
MARKERS = "osD^vP*X<>"
DASHES = ("-", "--", ":", "-.")
VARIED = {"omega": "omega", "gamma": "gamma", "similar_share": "share of pairs taken for similar"}


@dataclass(frozen=True)
class Plot:
    """A finished figure.

    Attributes:
        name: for its files.
        title: one line.
        png: picture to look at.
        svg: picture to print.
    """

    name: str
    title: str
    png: bytes
    svg: bytes


def all_plots(results: Sequence[Result], summaries: Sequence[Summary]) -> list[Plot]:
    """Every figure that the cells have data for."""
    plain = [result for result in results if result["cell"].varied is None]
    plots = []
    if plain:
        labels = max(result["cell"].labels for result in plain)
        bits = max(result["cell"].bits for result in plain)
        longest = [r for r in plain if r["cell"].labels == labels and r["cell"].bits == bits]
        where = f"{bits} bits, {labels:,} labelled"
        plots += precision_by_bits(summaries, labels)
        plots += [precision_at_k(longest, where), precision_recall(longest, where)]
        plots += map_by_labels(summaries, bits)
    varied = [result for result in results if result["cell"].varied is not None]
    return plots + (sensitivity(varied) if varied else [])


def precision_by_bits(summaries: Sequence[Summary], labels: int) -> list[Plot]:
    """Precision within Hamming radius 2 against code length; needs two lengths."""
    chosen = [s for s in summaries if s.labels == labels]
    if len({s.bits for s in chosen}) < 2:
        return []
    lines = grouped(chosen, lambda s: s.bits, lambda s: s.precision)
    title = f"Precision within Hamming radius 2, {labels:,} labelled"
    return [draw("precision-radius-2", title, lines, "bits", "precision", ticks=True)]


def map_by_labels(summaries: Sequence[Summary], bits: int) -> list[Plot]:
    """MAP against the number of labelled items; needs two numbers."""
    chosen = [s for s in summaries if s.bits == bits]
    if len({s.labels for s in chosen}) < 2:
        return []
    lines = grouped(chosen, lambda s: s.labels, lambda s: s.map)
    title = f"Label efficiency, {bits} bits"
    return [draw("label-efficiency", title, lines, "labelled items", "MAP", ticks=True, logarithmic=True)]


def precision_at_k(results: Sequence[Result], where: str) -> Plot:
    """Precision of the first k ranks, mean over seeds."""
    lines = [(name, runs[0]["ranks"], mean(runs, "precision_at")) for name, runs in by_method(results)]
    title = f"Precision of the first k, {where}"
    return draw("precision-at-k", title, lines, "k", "precision", ticks=True, logarithmic=True)


def precision_recall(results: Sequence[Result], where: str) -> Plot:
    """Precision against recall as the Hamming radius grows, mean over seeds."""
    lines = [(name, mean(runs, "recall"), mean(runs, "precision")) for name, runs in by_method(results)]
    return draw("precision-recall", f"Precision and recall by radius, {where}", lines, "recall", "precision")


def sensitivity(varied: Sequence[Result]) -> list[Plot]:
    """MAP against each varied setting, and the course of thr for each share of similar pairs."""
    cell = varied[0]["cell"]
    where = f"{SYSTEMS.find(cell.method).label}, {cell.bits} bits, {cell.labels:,} labelled"
    plots = []
    for setting, title in VARIED.items():
        found: dict[float, list[Result]] = {}
        for result in varied:
            name, value = result["cell"].varied
            if name == setting:
                found.setdefault(value, []).append(result)
        if found:
            x = sorted(found)
            lines = [
                (label, x, [float(np.mean([r[figure] for r in found[value]])) for value in x])
                for label, figure in (("MAP", "map"), ("precision within radius 2", "precision_within_2"))
            ]
            plots.append(draw(f"sensitivity-{setting}", f"Influence of {title}: {where}", lines, title, ""))
        courses = [(value, found[value][0]["course"]) for value in sorted(found) if found[value][0]["course"]]
        if setting == "similar_share" and courses:
            lines = [(f"share {value:g}", [p[0] for p in way], [p[1] for p in way]) for value, way in courses]
            title = f"Course of thr: {where}"
            plots.append(draw("course-of-thr", title, lines, "step", "thr", markers=False))
    return plots


def by_method(results: Iterable[Result]) -> list[tuple[str, list[Result]]]:
    """Runs of each method, in the order of the table, under the name that tables print."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result["cell"].method, []).append(result)
    return [(system.label, found[system.name]) for system in SYSTEMS if system.name in found]


def mean(runs: Sequence[Result], figure: str) -> list[float]:
    """A curve's mean over runs."""
    return [float(value) for value in np.mean([run[figure] for run in runs], axis=0)]


def grouped(
    summaries: Sequence[Summary], x: Callable[[Summary], float], y: Callable[[Summary], float]
) -> list[Line]:
    """One line per method, in the order of the table as in every figure, so that colours stay the same."""
    lines: list[Line] = []
    for system in SYSTEMS:
        if points := sorted((x(s), y(s)) for s in summaries if s.method == system.name):
            lines.append((system.label, [p[0] for p in points], [p[1] for p in points]))
    return lines


def draw(
    name: str,
    title: str,
    lines: Sequence[Line],
    x: str,
    y: str,
    *,
    ticks: bool = False,
    logarithmic: bool = False,
    markers: bool = True,
) -> Plot:
    """One figure: the legend is beside it, the highest line first."""
    figure, axes, colours = blank(len(lines))
    for number, (label, across, up) in enumerate(lines):
        turn = number // 10  # ten colours; in each further turn dashes and markers differ
        axes.plot(
            across,
            up,
            label=label,
            color=colours[number],
            linewidth=1.6,
            markersize=4.5,
            marker=MARKERS[(number + 3 * turn) % len(MARKERS)] if markers else None,
            linestyle=DASHES[turn % len(DASHES)],
        )
    if logarithmic:
        axes.set_xscale("log")
    if ticks:
        places = sorted({place for _, across, _ in lines for place in across})
        axes.set_xticks(places, [f"{place:,}" for place in places])
        axes.minorticks_off()
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.25)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(lines)), key=lambda place: -float(np.mean(lines[place][2])))
    axes.legend(
        [handles[place] for place in order],
        [labels[place] for place in order],
        frameon=False,
        fontsize=8,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        handlelength=3.5,
    )
    return Plot(name, title, saved(figure, "png"), saved(figure, "svg"))


def blank(lines: int) -> tuple["Figure", "Axes", list[Any]]:
    """An empty figure and a colour for each line; no window system is asked for."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError("plots need matplotlib: pip install 'pts3h[bench]'") from error
    figure = Figure(figsize=(8.5, max(4.6, 0.24 * lines)), dpi=130)
    colours = colormaps["tab10"]
    return figure, figure.add_subplot(), [colours(number % 10) for number in range(lines)]


def saved(figure: "Figure", kind: str) -> bytes:
    """The figure as a file; the same cells give the same bytes."""
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "pts3h"}):
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(file, format=kind, bbox_inches="tight", metadata=metadata)
    return file.getvalue()
