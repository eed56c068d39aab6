"""What a network may be tuned over: factors of what it trains with by default, the default first.

They are wide, so that the best value lies within and not at an end: a tenth of the steps, since a thousand
are 320 passes over 100 labelled items; weights from a thirtieth to ten times the default, since those of one
system say little of another's.
"""

from collections.abc import Sequence

# of every network
TRAINING: dict[str, Sequence[float]] = {
    "learning_rate": (1, 0.25, 0.5, 2, 4),
    "steps": (1, 0.1, 0.25, 0.5, 2),
    "labelled_per_batch": (1, 0.5, 2),
}
# of those whose loss they are in
WEIGHTS: dict[str, Sequence[float]] = {
    "omega": (1, 0.03, 0.1, 0.3, 3, 10),
    "gamma": (1, 0.1, 0.3, 3, 10),
    "eta": (1, 0.1, 0.3, 3, 10),
    "classes": (1, 0.3, 3),
}
FACTORS = TRAINING | WEIGHTS


def times(value: float, factors: Sequence[float]) -> tuple[float, ...]:
    """The values to try; whole where the default is."""
    kind = type(value)
    return tuple(dict.fromkeys(kind(round(value * factor, 10)) for factor in factors))
