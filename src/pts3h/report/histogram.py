"""How far apart pairs of each kind are: a chart, and its figures in words and tables."""

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..util.markup import paragraph, table
from .chart import Chart, Line
from .distances import Distances, nearer, threshold_distance

MOST_BINS = 64
STYLES = {"alike": "alike", "not alike": "apart", "random": "random"}


def histogram(kinds: Sequence[Distances], threshold: float | None, bits: int) -> str:
    """A histogram of the Hamming distances of pairs.

    Args:
        kinds: pairs of each kind.
        threshold: the similarity 2 cos - 2 from which the teacher took pairs for alike, where it did.
        bits: number of learned bits.
    """
    if not kinds:
        return paragraph("There is no pair to look at.")
    limit = None if threshold is None else threshold_distance(threshold, bits)
    last = max(int(np.flatnonzero(kind.counts)[-1]) for kind in kinds)  # long codes are rarely far apart
    last = min(max(last, math.ceil(limit or 0)), bits)
    width = math.ceil((last + 1) / MOST_BINS)
    starts = range(0, last + 1, width)
    binned = [np.add.reduceat(kind.counts, starts) for kind in kinds]
    chart = Chart(
        f"Histogram of the Hamming distances of pairs: {', '.join(kind.kind for kind in kinds)}",
        [bars(kind.kind, starts, width, counts) for kind, counts in zip(kinds, binned, strict=True)],
        "Hamming distance",
        "% of the pairs",
        mark=None if limit is None else (limit, "thr"),
    )
    key = "".join(f'<li class="{STYLES[kind.kind]}">{kind.kind}</li>' for kind in kinds)
    names = [f"{start}" if width == 1 else f"{start} to {min(start + width - 1, bits)}" for start in starts]
    rows = [[name, *(f"{counts[place]:,}" for counts in binned)] for place, name in enumerate(names)]
    return (
        f'<figure>{chart.svg()}<ul class="key">{key}</ul>'
        f"<figcaption>{html.escape(words(kinds, limit))}</figcaption></figure>\n{summary_table(kinds, limit)}"
        "<details><summary>Pairs at each distance</summary>"
        f"{table('Pairs at each distance', ['distance', *(kind.kind for kind in kinds)], rows)}</details>"
    )


def bars(kind: str, starts: Sequence[int], width: int, counts: NDArray[np.int64]) -> Line:
    """The outline of a histogram; the bar of a distance is centred on it."""
    shares = 100 * counts / counts.sum()
    edges = [edge - 0.5 for edge in (*starts, starts[-1] + width)]
    return Line(
        STYLES[kind], np.repeat(edges, 2).tolist(), [0.0, *np.repeat(shares, 2).tolist(), 0.0], filled=True
    )


def words(kinds: Sequence[Distances], limit: float | None) -> str:
    """What the chart shows."""
    by_kind = {kind.kind: kind for kind in kinds}
    lines = ["The further left alike pairs lie of all others, the better."]
    if "alike" in by_kind and "not alike" in by_kind:
        share = nearer(by_kind["alike"], by_kind["not alike"])
        lines.append(
            f"A pair that is known to be alike is nearer than one that is not in {share:.1%} of all cases "
            "(ties count half; 50% is chance). Pairs that were trained on look better than new ones."
        )
    if limit is not None:
        lines.append(f"thr is where the teacher drew the line at the last step, about distance {limit:.1f}.")
    return " ".join(lines)


def summary_table(kinds: Sequence[Distances], limit: float | None) -> str:
    """One row per kind."""
    header = [
        "pairs",
        "how many",
        "median distance",
        "80% lie in",
        *(["within thr"] if limit is not None else []),
    ]
    rows = [
        [
            kind.kind,
            f"{kind.pairs:,}",
            str(kind.reached_by(0.5)),
            f"{kind.reached_by(0.1)} to {kind.reached_by(0.9)}",
            *([f"{kind.share_within(limit):.1%}"] if limit is not None else []),
        ]
        for kind in kinds
    ]
    return table("Hamming distances of pairs", header, rows)
