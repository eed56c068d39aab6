"""From answers to what a model learns from: pairs, or a label per item."""

from collections.abc import Callable, Iterable
from itertools import combinations, product

from ..data.implied_pairs import MOST_PAIRS
from ..errors import UserError
from .agreement import Agreement, Contradiction
from .kept_back import kept_back
from .standing import Pair, Place, Said, Standing, ordered

Triple = tuple[str, str, bool]
Triples = list[Triple]


def contradictions(standing: Standing) -> list[Contradiction]:
    """Answers that newer ones overrule through a chain, newest first."""
    return Agreement(standing).contradictions


def about(standing: Standing, wanted: Callable[[str], bool]) -> Standing:
    """What was said of some items; a pair counts if both are wanted."""
    pairs = {pair: said for pair, said in standing.pairs.items() if wanted(pair[0]) and wanted(pair[1])}
    places = {item: place for item, place in standing.places.items() if wanted(item)}
    return Standing(pairs, places, dict(standing.names), standing.answers)


def to_learn_from(standing: Standing) -> Standing:
    """Without what is kept back to judge by."""
    return about(standing, lambda item: not kept_back(item))


def known_pairs(standing: Standing, *, transitive: bool) -> list[Triple]:
    """Every pair that is known, in order.

    Two items of a group are alike, and items of two groups are not. Where a pair has an answer of its own
    too, the newer one counts.

    Args:
        standing: what was said.
        transitive: also take what follows from pairs: alike of alike is alike.
    """
    found = following_pairs(Agreement(standing)) if transitive else group_pairs(standing)
    return sorted((a, b, similar) for (a, b), similar in found.items())


def following_pairs(agreement: Agreement) -> dict[Pair, bool]:
    """All pairs within kinds, and across kinds that are known to differ."""
    kinds = {number: kind.items for number, kind in agreement.kinds.items()}
    apart = [pair for pair in combinations(kinds, 2) if agreement.differ(*pair) is not None]
    check_count(list(kinds.values()), [(len(kinds[one]), len(kinds[other])) for one, other in apart])
    found = {ordered(a, b): True for items in kinds.values() for a, b in combinations(items, 2)}
    for one, other in apart:
        found |= {ordered(a, b): False for a, b in product(kinds[one], kinds[other])}
    return found


def group_pairs(standing: Standing) -> dict[Pair, bool]:
    """Pairs as they were said, and those of groups where no newer answer speaks of the pair itself."""
    groups = [group.items for group in standing.groups()]
    check_count(groups, [(len(one), len(other)) for one, other in combinations(groups, 2)])
    found = {}
    placed = [(item, place) for item, place in standing.places.items() if place.group is not None]
    for (a, first), (b, second) in combinations(placed, 2):
        pair = ordered(a, b)
        if not newer(standing.pairs.get(pair), first, second):
            found[pair] = first.group == second.group
    for pair, said in standing.pairs.items():
        if said.similar is not None:
            found.setdefault(pair, said.similar)
    return found


def newer(said: Said | None, first: Place, second: Place) -> bool:
    """Whether the answer about a pair came after both its items were placed."""
    return said is not None and said.number > max(first.number, second.number)


def check_count(within: Iterable[list[str]], across: Iterable[tuple[int, int]]) -> None:
    """Refuse what would not fit into memory."""
    count = sum(len(items) ** 2 // 2 for items in within) + sum(one * other for one, other in across)
    if count > MOST_PAIRS:
        raise UserError(
            f"the answers imply about {count:,} pairs, more than {MOST_PAIRS:,}: "
            "train on their groups as labels, or export without implied pairs"
        )
