"""Queries drawn by chance, and what they find."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .. import kernel
from ..codes import distances
from ..data.known_pairs import KnownPairs
from .coded import Coded

HITS = 8


@dataclass(frozen=True)
class Hit:
    """An item that was found.

    Attributes:
        position: in the collection.
        distance: of its code to the query's.
        alike: what is known of the two; None where nothing is.
    """

    position: int
    distance: int
    alike: bool | None


@dataclass(frozen=True)
class Query:
    """An item and its nearest others.

    Attributes:
        position: in the collection.
        hits: nearest first, by position where equally far.
        as_near: how many more are as near as the last hit.
    """

    position: int
    hits: list[Hit]
    as_near: int


def chance_queries(coded: Coded, known: KnownPairs | None, count: int, rng: Generator) -> list[Query]:
    """Queries drawn by chance, in the order of the collection, searched among all codes."""
    rows = np.sort(rng.choice(coded.chance, min(count, len(coded.chance)), replace=False))
    # one more than are shown: the query finds itself
    found = kernel.nearest(coded.layout, coded.codes[rows], kernel.columns_of(coded.codes), HITS + 1)
    queries = []
    for row, (others, far) in zip(rows, found.split(), strict=True):
        is_other = others != row
        positions = coded.positions[others[is_other][:HITS]]
        hits = [
            Hit(int(position), int(distance), alike(known, coded.positions[row], position))
            for position, distance in zip(positions, far[is_other][:HITS], strict=True)
        ]
        limit = hits[-1].distance if hits else 0
        within = distances(coded.codes[row], coded.codes, coded.layout) <= limit
        as_near = int(within.sum()) - 1 - len(hits)  # the query is among them
        queries.append(Query(int(coded.positions[row]), hits, as_near))
    return queries


def alike(known: KnownPairs | None, one: int, other: int) -> bool | None:
    """What is known of two items."""
    if known is None:
        return None
    is_known, similar = known.block(np.array([one, other]))
    return bool(similar[0, 1]) if is_known[0, 1] else None
