"""The course of training: a history of thousands of steps as a few curves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOST_POINTS = 100
NOT_SHOWN = ("step", "learning_rate", "omega")  # they follow from the settings
THRESHOLD = "threshold"


@dataclass(frozen=True)
class Course:
    """A figure of the history, smoothed.

    Attributes:
        name: as in the history.
        steps: where each point stands.
        values: mean over the steps around it.
    """

    name: str
    steps: list[float]
    values: list[float]


def courses(history: Sequence[Mapping[str, float]]) -> list[Course]:
    """Every loss by step, and thr as a cosine."""
    names = dict.fromkeys(name for record in history for name in record if name not in NOT_SHOWN)
    found = [course_of(name, history) for name in names]
    return [course for course in found if course.steps]


def course_of(name: str, history: Sequence[Mapping[str, float]]) -> Course:
    """One figure, from the first step that has it."""
    points = [
        (record["step"], record[name]) for record in history if math.isfinite(record.get(name, math.nan))
    ]
    if not points:
        return Course(name, [], [])
    blocks = np.array_split(np.array(points, float), min(len(points), MOST_POINTS))
    steps, values = np.array([block.mean(axis=0) for block in blocks]).T
    if name == THRESHOLD:
        values = values / 2 + 1  # the history has 2 cos - 2
    return Course(name, steps.tolist(), values.tolist())


def last_threshold(history: Sequence[Mapping[str, float]]) -> float | None:
    """The last similarity that the teacher took for alike; None where it was not asked."""
    return next((record[THRESHOLD] for record in reversed(history) if THRESHOLD in record), None)
