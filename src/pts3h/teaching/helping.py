"""Do more answers still help? What half of them, and all of them, can tell of those that were kept back.

No network is trained for it: groups are learned by ridge regression on the items' vectors, which takes a
moment and improves with answers as a network does.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .judging import LEAST, Figures, gain, judge
from .kept_back import ONE_IN, kept_back
from .question import Helping
from .ridge import ridge_scores
from .standing import Standing

SMALL = 0.02  # a gain that is hardly worth twice the answers
FEW = 40  # items learned from, before which nobody is told to stop

RowsOf = Callable[[Sequence[str]], NDArray[np.float32]]


def helping(standing: Standing, rows_of: RowsOf) -> Helping:
    """Whether more answers still help, in words.

    Args:
        standing: what was said of items that there are.
        rows_of: ids → unit vectors (k, d).
    """
    placed = [item for item, place in standing.places.items() if place.group is not None]
    learned = sorted(
        (item for item in placed if not kept_back(item)), key=lambda item: standing.places[item].number
    )
    judging = len(placed) - len(learned)
    before, after = (
        figures_of(standing, placed, some, rows_of) for some in (learned[: len(learned) // 2], learned)
    )
    if before is None or after is None:
        missing = ONE_IN * max(LEAST - judging, 1)
        return Helping(
            f"One answer in {ONE_IN} is kept back to judge by. After some {missing} more answers "
            "this page can say whether more of them help."
        )
    more, error = gain(before, after)
    measured = (
        f"an alike pair is found nearer than another in {after.auc:.0%} of cases, "
        f"in {before.auc:.0%} with half of the answers (± {error:.0%})"
    )
    if more > error:
        text, stop = f"Your answers help: {measured}. More of them should help, too.", False
    elif more + error < SMALL and len(learned) >= FEW:
        text, stop = f"The last half of the answers changed little: {measured}. You can stop here.", True
    else:
        text, stop = f"It is too early to tell whether more answers help: {measured}.", False
    return Helping(text, after.auc, after.error, stop)


def figures_of(
    standing: Standing, placed: Sequence[str], learned: Sequence[str], rows_of: RowsOf
) -> Figures | None:
    """What these items can tell of those that were kept back; None where there are too few of either."""
    groups = np.array([standing.places[item].group for item in learned])
    names = np.unique(groups)
    if len(names) < 2:
        return None
    scores = ridge_scores(rows_of(learned), groups[:, None] == names, rows_of(placed))
    only_placed = Standing({}, {item: standing.places[item] for item in placed})
    return judge(only_placed, dict(zip(placed, scores, strict=True)))
