"""What follows from known pairs where likeness is transitive: alike of alike is alike.

Meaning can have several sides (a red car is like a red bag and like a blue car), so this is only done
when the user says so.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from .images import Positions
from .known_pairs import PairList

MOST_PAIRS = 20_000_000


def with_implied(known: PairList, names: Sequence[str]) -> PairList:
    """The known pairs and all that follow from them.

    Items that are linked by alike pairs form a group: all its pairs are alike. Where two items of different
    groups are not alike, no pair across the two groups is.

    Args:
        known: pairs as the user gave them.
        names: of all items, for the message that names a contradiction.
    """
    groups = groups_of(known)
    number = {item: place for place, group in enumerate(groups) for item in group.tolist()}
    apart = set[tuple[int, int]]()
    for a, b in known.pairs[~known.similar].tolist():
        if number[a] == number[b]:
            raise UserError(contradiction(known, a, b, names))
        apart.add((min(number[a], number[b]), max(number[a], number[b])))
    count = sum(len(group) ** 2 // 2 for group in groups)
    count += sum(len(groups[one]) * len(groups[other]) for one, other in apart)
    if count > MOST_PAIRS:
        raise UserError(
            f"{len(known.pairs):,} pairs imply about {count:,} others, more than {MOST_PAIRS:,}: "
            "give labels instead"
        )
    alike = [pairs_within(group) for group in groups]
    other = [pairs_across(groups[one], groups[second]) for one, second in sorted(apart)]
    rows = [np.column_stack([pairs, np.ones(len(pairs), np.int64)]) for pairs in alike]
    rows += [np.column_stack([pairs, np.zeros(len(pairs), np.int64)]) for pairs in other]
    return PairList(known.count, np.concatenate(rows))


def groups_of(known: PairList) -> list[Positions]:
    """Items linked by alike pairs, ascending; an item without an alike pair is a group of its own."""
    neighbours = links(known)
    free = dict.fromkeys(known.labelled.tolist())
    groups = []
    while free:
        first = next(iter(free))
        reached = reach(neighbours, first)
        for item in reached:
            del free[item]
        groups.append(np.array(sorted(reached), np.int64))
    return groups


def links(known: PairList) -> dict[int, list[int]]:
    """The items that each item is known to be like."""
    found: dict[int, list[int]] = {item: [] for item in known.labelled.tolist()}
    for a, b in known.pairs[known.similar].tolist():
        found[a].append(b)
        found[b].append(a)
    return found


def reach(neighbours: dict[int, list[int]], start: int) -> dict[int, int]:
    """Every item that can be reached from ``start``, with the one before it on the shortest way."""
    came_from, waiting = {start: start}, deque([start])
    while waiting:
        item = waiting.popleft()
        for other in neighbours[item]:
            if other not in came_from:
                came_from[other] = item
                waiting.append(other)
    return came_from


def contradiction(known: PairList, a: int, b: int, names: Sequence[str]) -> str:
    """What is wrong with a pair that is not alike: the shortest chain of alike pairs between its ends."""
    came_from, chain = reach(links(known), a), [b]
    while chain[-1] != a:
        chain.append(came_from[chain[-1]])
    way = " - ".join(names[item] for item in reversed(chain))
    return (
        f"{names[a]} and {names[b]} are not alike, but a chain of alike pairs joins them: {way}; "
        "correct a pair, or leave out transitive"
    )


def pairs_within(group: Positions) -> Positions:
    """(m, 2) all pairs of a group."""
    first, second = np.triu_indices(len(group), 1)
    return np.column_stack([group[first], group[second]])


def pairs_across(one: Positions, other: Positions) -> Positions:
    """(m, 2) all pairs of an item of one group and an item of the other."""
    return np.column_stack([np.repeat(one, len(other)), np.tile(other, len(one))])
