"""Schedules over training steps, counted from 1."""

import math


def consistency_ramp(step: int, length: int) -> float:
    """0 before step 1, exp(-5 (1 - t/T)²) up to T, then 1 (Mean Teacher, arXiv 1703.01780)."""
    if step < 1:
        return 0.0
    return 1.0 if step >= length else math.exp(-5 * (1 - step / length) ** 2)


def learning_rate_factor(step: int, total: int, warmup: int) -> float:
    """Linear warm-up to 1, then half a cosine down to 0 at the end."""
    if step <= warmup:
        return step / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(total - warmup, 1)))


def teacher_decay(step: int, alpha: float) -> float:
    """How much the teacher keeps of itself: a true mean at first, then alpha."""
    return min(1 - 1 / (step + 1), alpha)
