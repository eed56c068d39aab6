"""Answers as a CSV of a, b, similar: what ``pts3h fit --pairs`` reads."""

import csv
from collections.abc import Container, Iterable, Sequence
from itertools import combinations
from typing import Any, TextIO

from ..data.pair_files import similarity
from ..errors import UserError
from .knowledge import Triple, newer
from .standing import Pair, Standing, ordered

HEADER = ("a", "b", "similar")


def write_pairs(out: TextIO, pairs: Iterable[Triple]) -> int:
    """Write a header and a row for each pair; return how many pairs there were."""
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(HEADER)
    count = 0
    for a, b, similar in pairs:
        rows.writerow((a, b, int(similar)))
        count += 1
    return count


def pairs_as_said(standing: Standing) -> list[Triple]:
    """Pairs as they were said, and the fewest from which the groups follow: each item of a group beside its
    first one, and the first ones of each two groups. Where both speak of a pair, the newer answer counts.
    """
    found: dict[Pair, bool] = {}
    groups = [group.items for group in standing.groups()]
    links = [(items[0], other, True) for items in groups for other in items[1:]]
    links += [(one[0], other[0], False) for one, other in combinations(groups, 2)]
    for a, b, similar in links:
        if not newer(standing.pairs.get(ordered(a, b)), standing.places[a], standing.places[b]):
            found[ordered(a, b)] = similar
    for pair, said in standing.pairs.items():
        if said.similar is not None:
            found.setdefault(pair, said.similar)
    return [(a, b, similar) for (a, b), similar in found.items()]


def read_rows(rows: Iterable[Sequence[Any]], ids: Container[str] | None) -> dict[Pair, bool]:
    """Rows of a, b, similar, refused where one is wrong or contradicts another."""
    found: dict[Pair, bool] = {}
    first: dict[Pair, int] = {}
    for number, row in enumerate(rows, start=1):
        cells = [str(cell).strip() for cell in row]
        if not any(cells) or (number == 1 and cells[-1].lower() in ("similar", "alike", "label", "s")):
            continue
        name = f"row {number}"
        if len(cells) != 3:
            raise UserError(f"{name} has {len(cells)} columns, expected a,b,similar")
        for item in cells[:2]:
            if ids is not None and item not in ids:
                raise UserError(f"{name} names {item!r}, which is not among the items")
        pair, similar = ordered(cells[0], cells[1]), bool(similarity(cells, name))
        if found.setdefault(pair, similar) != similar:
            raise UserError(f"{name} contradicts row {first[pair]}: the same two items, alike and not")
        first.setdefault(pair, number)
    return found
