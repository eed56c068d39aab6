"""The course of training as means of neighbouring steps."""

import math

import numpy as np
import pytest

from pts3h.report.course import MOST_POINTS, courses, last_threshold

RNG = np.random.default_rng(0)


def record(step, **figures):
    return {"step": step, "learning_rate": 0.1, "omega": 0.3, **figures}


def test_a_short_history_is_shown_as_it_is():
    history = [record(step, loss=step**2) for step in range(1, 8)]
    (course,) = courses(history)
    assert (course.name, course.steps) == ("loss", list(range(1, 8)))
    assert course.values == [step**2 for step in range(1, 8)]


def test_a_long_one_is_smoothed():
    values = RNG.normal(size=3 * MOST_POINTS)
    (course,) = courses([record(step, loss=value) for step, value in enumerate(values, start=1)])
    assert course.values == pytest.approx(values.reshape(-1, 3).mean(axis=1).tolist())
    assert course.steps == pytest.approx([2 + 3 * point for point in range(MOST_POINTS)])


def test_terms_that_join_later():
    history = [record(1, loss=1.0), record(2, loss=2.0, consistent=3.0), record(3, loss=4.0, consistent=5.0)]
    loss, consistent = courses(history)
    assert (loss.steps, consistent.steps, consistent.values) == ([1, 2, 3], [2, 3], [3.0, 5.0])


def test_the_threshold_is_a_cosine():
    history = [record(1, loss=1.0), record(2, loss=1.0, threshold=2 * 0.3 - 2), record(3, loss=1.0)]
    assert courses(history)[1].values == pytest.approx([0.3])
    assert last_threshold(history) == 2 * 0.3 - 2
    assert last_threshold(history[:1]) is None and last_threshold([]) is None


def test_what_is_no_number_is_left_out():
    history = [record(1, loss=1.0, supervised=math.nan), record(2, loss=math.inf, supervised=math.nan)]
    (loss,) = courses(history)
    assert loss.values == [1.0]
    assert courses([]) == []
