"""From cells to figures: mean and deviation over seeds, gain over the base and its significance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..systems.table import SYSTEMS
from .cells import Result
from .paper import paper_map, paper_precision


@dataclass(frozen=True)
class Comparison:
    """A system against the one it extends, on the same splits.

    Attributes:
        base: name of the other system.
        base_map: its mean MAP over the seeds that both have run.
        gain: mean difference of MAP over those seeds.
        p: of a paired t-test over seeds, two-sided; None where there are too few seeds to tell.
    """

    base: str
    base_map: float
    gain: float
    p: float | None


@dataclass(frozen=True)
class Summary:
    """A method at one code length and number of labels, over its seeds.

    Attributes:
        method: its name.
        bits: code length.
        labels: labelled items.
        seeds: how many runs.
        map: mean, and ``map_deviation`` the standard deviation (of a sample; 0 for one run).
        precision: within Hamming radius 2, likewise.
        seconds: mean time of a run.
        paper: the paper's MAP, and ``paper_precision`` its precision within radius 2.
        against: comparison with its base, where that was run.
        by_seed: MAP of each run.
    """

    method: str
    bits: int
    labels: int
    seeds: int
    map: float
    map_deviation: float
    precision: float
    precision_deviation: float
    seconds: float
    paper: float | None
    paper_precision: float | None
    against: Comparison | None
    by_seed: Mapping[int, float]


def summarise(results: Iterable[Result], dataset: str) -> list[Summary]:
    """Summaries in the order of the table, then by labels and bits; varied cells are left out.

    Args:
        results: cells.
        dataset: whose figures of the paper to put beside ours; "" for a part of one, which does not compare.
    """
    groups: dict[tuple[str, int, int], dict[int, Result]] = {}
    for result in results:
        cell = result["cell"]
        if cell.varied is None and cell.method in SYSTEMS:
            groups.setdefault((cell.method, cell.labels, cell.bits), {})[cell.seed] = result
    order = {name: place for place, name in enumerate(SYSTEMS.names())}
    summaries = []
    for key in sorted(groups, key=lambda key: (order[key[0]], *key[1:])):
        method, labels, bits = key
        runs = groups[key]
        base = SYSTEMS.find(method).base
        other = groups.get((base, labels, bits), {}) if base else {}
        maps, precisions = (values(runs, name) for name in ("map", "precision_within_2"))
        summary = Summary(
            method,
            bits,
            labels,
            len(runs),
            maps.mean(),
            deviation(maps),
            precisions.mean(),
            deviation(precisions),
            values(runs, "seconds").mean(),
            paper_map(method, dataset, bits, labels),
            paper_precision(method, dataset, bits, labels),
            compare(base, maps_of(runs), maps_of(other)) if base else None,
            maps_of(runs),
        )
        summaries.append(summary)
    return summaries


def maps_of(runs: Mapping[int, Result]) -> dict[int, float]:
    """MAP by seed."""
    return {seed: float(result["map"]) for seed, result in runs.items()}


def compare(base: str, runs: Mapping[int, float], other: Mapping[int, float]) -> Comparison | None:
    """A system against another, over the seeds that both have run."""
    shared = sorted(runs.keys() & other.keys())
    if not shared:
        return None
    own, theirs = (np.array([table[seed] for seed in shared]) for table in (runs, other))
    return Comparison(base, float(theirs.mean()), float((own - theirs).mean()), paired_p(own, theirs))


def paired_p(own: np.ndarray, theirs: np.ndarray) -> float | None:
    """p of a paired t-test, two-sided; None for fewer than two pairs, or where all differences are equal."""
    from scipy.stats import ttest_rel

    if len(own) < 2 or np.ptp(own - theirs) == 0:
        return None
    return float(ttest_rel(own, theirs).pvalue)


def holm(tests: Sequence[float | None]) -> list[float | None]:
    """p values of a family of tests, corrected by Holm's step-down: at most one in twenty families has a p
    below .05 by chance. What has no p is no test.
    """
    order = sorted((p, place) for place, p in enumerate(tests) if p is not None)
    corrected: list[float | None] = [None] * len(tests)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(p * (len(order) - rank), 1.0))
        corrected[place] = largest
    return corrected


def values(runs: dict[int, Result], name: str) -> np.ndarray:
    """One figure of each run."""
    return np.array([result[name] for result in runs.values()], float)


def deviation(figures: np.ndarray) -> float:
    """Standard deviation of a sample."""
    return float(figures.std(ddof=1)) if len(figures) > 1 else 0.0
