"""The formulas once more, in float64 numpy, pair by pair, and gradients by central differences."""

from collections.abc import Callable

import numpy as np


def pairs_of(mask):
    n = len(mask)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if mask[i, j]]


def mean_over(mask, cost: Callable[[int, int], float]) -> float:
    chosen = pairs_of(mask)
    return sum(cost(i, j) for i, j in chosen) / len(chosen) if chosen else 0.0


def cosine(outputs, i, j):
    a, b = outputs[i], outputs[j]
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def unit_distance(outputs, i, j):
    a, b = outputs[i] / np.linalg.norm(outputs[i]), outputs[j] / np.linalg.norm(outputs[j])
    return float(((a - b) ** 2).sum())


def dsh(outputs, similar, known, bits):
    def cost(i, j):
        distance = float(((outputs[i] - outputs[j]) ** 2).sum())
        return distance if similar[i, j] else max(0.0, 2 * bits - distance)

    return mean_over(known, cost)


def dpsh(outputs, similar, known, bits):
    def cost(i, j):
        u = float(outputs[i] @ outputs[j]) / 2
        return float(np.logaddexp(0, u)) - similar[i, j] * u

    return mean_over(known, cost)


def ksh(outputs, similar, known, bits):
    def cost(i, j):
        return (bits * (2 * similar[i, j] - 1) - float(outputs[i] @ outputs[j])) ** 2

    return mean_over(known, cost)


def pseudo_dsh(outputs, similar, unknown, margin):
    def cost(i, j):
        distance = unit_distance(outputs, i, j)
        return distance if similar[i, j] else max(0.0, margin - distance)

    return mean_over(unknown, cost)


def pseudo_dpsh(outputs, similar, unknown, scale):
    """``scale`` turns a cosine into u."""

    def cost(i, j):
        u = scale(cosine(outputs, i, j))
        return float(np.logaddexp(0, u)) - similar[i, j] * u

    return mean_over(unknown, cost)


def pseudo_ksh(outputs, similar, unknown, value):
    return mean_over(unknown, lambda i, j: (2 * similar[i, j] - 1 - value(cosine(outputs, i, j))) ** 2)


def consistent(outputs, teacher):
    n = len(outputs)
    squares = [
        (-unit_distance(outputs, i, j) + unit_distance(teacher, i, j)) ** 2
        for i in range(n)
        for j in range(n)
        if i != j
    ]
    return float(np.mean(squares))


def quantization(outputs):
    signs = np.where(outputs >= 0, 1.0, -1.0)
    return float(np.abs(signs - outputs).sum(axis=1).mean())


def gradient(loss: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences."""
    result = np.zeros_like(at)
    for place in np.ndindex(*at.shape):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        result[place] = (loss(up) - loss(down)) / (2 * step)
    return result


def masks(rng, count, share=0.6):
    """Random symmetric (known, similar) with a false diagonal."""
    known = np.triu(rng.random((count, count)) < share, 1)
    known |= known.T
    similar = np.triu(rng.random((count, count)) < 0.4, 1)
    similar |= similar.T
    return known, similar & known
