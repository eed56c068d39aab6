import math

import numpy as np
import pytest

from pts3h.losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay


def test_consistency_ramp_is_mean_teachers():
    for step in range(1, 101):
        assert consistency_ramp(step, 100) == pytest.approx(np.exp(-5 * (1 - step / 100) ** 2), abs=1e-12)
    assert consistency_ramp(100, 100) == consistency_ramp(5000, 100) == 1
    assert consistency_ramp(1, 0) == 1


def test_learning_rate_warms_up_and_anneals():
    factors = [learning_rate_factor(step, 100, 10) for step in range(1, 101)]
    np.testing.assert_allclose(factors[:10], np.arange(1, 11) / 10, atol=1e-12)
    cosine = [0.5 + 0.5 * math.cos(math.pi * k / 90) for k in range(1, 91)]
    np.testing.assert_allclose(factors[10:], cosine, atol=1e-12)


def test_teacher_is_a_true_mean_at_first():
    """With decay 1 - 1/(t+1) the teacher is the mean of its start and of all students so far."""
    students = np.random.default_rng(0).normal(size=6)
    teacher = students[0]
    for step, student in enumerate(students[1:], start=1):
        decay = teacher_decay(step, alpha=0.995)
        teacher = decay * teacher + (1 - decay) * student
        assert teacher == pytest.approx(students[: step + 1].mean(), abs=1e-12)
    assert teacher_decay(10_000, alpha=0.995) == 0.995
