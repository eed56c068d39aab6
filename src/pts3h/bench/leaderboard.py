"""Who wins at which number of labels, also where it is not us."""

from collections.abc import Sequence

from ..systems.table import SYSTEMS
from .summary import Summary, compare, holm
from .tables import Table, figure_text, p_text

PLACES = 10


def leaderboard(summaries: Sequence[Summary]) -> Table | None:
    """The best systems at the longest code, a column for each number of labels; None for fewer than three."""
    longest = max(s.bits for s in summaries)
    columns = {}
    for labels in sorted({s.labels for s in summaries}):
        ranked = sorted(at(summaries, labels, longest), key=lambda s: -s.map)[:PLACES]
        if len(ranked) > 2:
            columns[f"{labels:,} labels"] = [
                f"{SYSTEMS.find(s.method).label} {figure_text(s.map, s.map_deviation, s.seeds)}"
                for s in ranked
            ]
    if not columns:
        return None
    depth = max(map(len, columns.values()))
    filled = [[*names, *[""] * (depth - len(names))] for names in columns.values()]
    rows = [[f"{place}", *names] for place, names in enumerate(zip(*filled, strict=True), start=1)]
    return Table(f"Who is best by MAP, {longest} bits", ["place", *columns], rows)


def rivals(summaries: Sequence[Summary]) -> Table | None:
    """The best PTS3H against the best system that is none; None where only one kind was run.

    Both are picked by the figures that are compared, so p is a little too small for a claim of its own.
    """
    found = []
    for labels, bits in sorted({(s.labels, s.bits) for s in summaries}):
        sides = at(summaries, labels, bits)
        ours = [s for s in sides if s.method.startswith("pts3h")]
        others = [s for s in sides if not s.method.startswith("pts3h")]
        if ours and others:
            best, rival = (max(side, key=lambda s: s.map) for side in (ours, others))
            against = compare(rival.method, best.by_seed, rival.by_seed)
            if against is not None:
                found.append((best, rival, against))
    corrected = holm([against.p for _, _, against in found])
    rows = [
        [
            f"{best.labels:,}",
            f"{best.bits}",
            SYSTEMS.find(best.method).label,
            SYSTEMS.find(rival.method).label,
            f"{against.base_map + against.gain:.4f}",
            f"{against.base_map:.4f}",
            f"{against.gain:+.4f}",
            p_text(against.p),
            p_text(p),
        ]
        for (best, rival, against), p in zip(found, corrected, strict=True)
    ]
    header = ["labels", "bits", "best PTS3H", "best other system", "MAP", "other MAP", "ahead", "p", "Holm"]
    title = "The best PTS3H against the best other system, on the seeds that both have"
    return Table(title, header, rows) if rows else None


def at(summaries: Sequence[Summary], labels: int, bits: int) -> list[Summary]:
    """Those of one number of labels and one code length."""
    return [s for s in summaries if (s.labels, s.bits) == (labels, bits)]
