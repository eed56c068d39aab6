"""KSH, supervised hashing with kernels (Liu et al. 2012): each bit on what earlier ones left of the pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...unsupervised.linear import Floats, Matrix, strips
from .known import Known
from .signed_pairs import Residual, Signed

ANCHORS = 300
REFINEMENTS = 500  # gradient steps a bit, at most
LEAST_GAIN = (
    1e-3  # a step that gains less of the objective is the last: going on learns the labelled items by heart
)
FIRST_LENGTH = 1e4  # of a step; far too long, so that halving finds the longest that serves
RIDGE = 0.03  # of the mean diagonal of K'K, which is singular where labelled items are fewer than anchors


@dataclass(frozen=True)
class Kernel:
    """Gaussian similarity to some anchors, centred.

    Attributes:
        anchors: (a, d).
        width: the Gaussian's standard deviation.
        mean: (a,) of the similarities over the training items.
    """

    anchors: NDArray[np.float32]
    width: float
    mean: Matrix

    def __call__(self, features: Floats) -> Matrix:
        """(n, d) → (n, a)."""
        return similarities(features, self.anchors, self.width) - self.mean


@dataclass(frozen=True)
class KernelCoder:
    """sgn(k(x) w), one w a bit."""

    kernel: Kernel
    weights: Matrix

    def __call__(self, features: Floats) -> NDArray[np.float32]:
        """(n, d) features → (n, bits) real outputs, whose signs are the code."""
        return (self.kernel(features) @ self.weights).astype(np.float32)


def learn_ksh_kernel(
    features: Floats,
    labelled: Floats,
    signed: Signed,
    bits: int,
    seed: int,
    *,
    anchors: int = ANCHORS,
    ridge: float = RIDGE,
) -> KernelCoder:
    """Learn from pairs.

    Args:
        features: (n, d) training items, of which anchors are drawn.
        labelled: (m, d) items of known pairs.
        signed: (m, m) what is known of them; used up.
        bits: code length.
        seed: of the anchors.
        anchors: how many.
        ridge: of the mean diagonal of K'K.
    """
    kernel = build_kernel(features, anchors, seed)
    table = kernel(labelled).astype(np.float32)
    residual = Residual(signed, bits)
    weights = np.stack([best_bit(table, residual, ridge) for _ in range(bits)], axis=1)
    return KernelCoder(kernel, weights)


def build_kernel(features: Floats, anchors: int, seed: int) -> Kernel:
    """Random anchors; the width is the mean distance of items to anchors."""
    rng = np.random.default_rng((seed, 13))
    sample = np.sort(rng.choice(len(features), min(len(features), 5000), replace=False))
    items = np.asarray(features[sample], np.float32)
    chosen = items[rng.choice(len(items), min(anchors, len(items)), replace=False)]
    width = float(np.sqrt(squared_distances(items, chosen)).mean()) or 1.0
    return Kernel(chosen, width, similarities(items, chosen, width).mean(axis=0))


def similarities(features: Floats, anchors: NDArray[np.float32], width: float) -> Matrix:
    """(n, a) exp(-d² / 2 width²)."""
    parts = [np.exp(-squared_distances(strip, anchors) / (2 * width**2)) for strip in strips(features)]
    return np.concatenate(parts).astype(np.float64)


def squared_distances(items: NDArray[np.float32], anchors: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, a) squared Euclidean distances."""
    squares = np.square(items).sum(axis=1)[:, None] + np.square(anchors).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * items @ anchors.T, 0))


def best_bit(table: NDArray[np.float32], residual: Residual, ridge: float = RIDGE) -> Matrix:
    """The weights (a,) of the next bit, which is taken from the residual.

    First without signs: the top eigenvector of K'RK against K'K. Then with smooth signs, by gradient; that
    is kept only where it serves the true signs better.
    """
    relaxed = top_direction(table, residual.matrix, ridge)
    smooth = refine(relaxed, table, residual.matrix)
    bits = {name: signs(table @ weights) for name, weights in (("relaxed", relaxed), ("smooth", smooth))}
    better = residual.gain(bits["smooth"]) > residual.gain(bits["relaxed"])
    residual.take(bits["smooth" if better else "relaxed"])
    return smooth if better else relaxed


def top_direction(table: NDArray[np.float32], residual: Signed, ridge: float = RIDGE) -> Matrix:
    """The w that maximises w'K'RKw where |Kw|² is the number of items."""
    from scipy.linalg import eigh

    gram = (table.T @ table).astype(np.float64)
    gram += ridge * np.trace(gram) / len(gram) * np.eye(len(gram))
    target = (table.T @ (residual @ table)).astype(np.float64)
    last = len(gram) - 1
    _, vectors = eigh((target + target.T) / 2, gram, subset_by_index=(last, last))
    return np.asarray(vectors[:, 0] * np.sqrt(len(table)))


def refine(weights: Matrix, table: NDArray[np.float32], residual: Signed) -> Matrix:
    """Climb s'Rs with s = tanh(Kw / 2), the smooth stand-in for signs, by accelerated gradient steps.

    Each step starts ahead of the last point, in the direction of the last step (Nesterov), and is halved
    until it rises as much as its slope promises.
    """
    scale = float(np.abs(residual).sum()) or 1.0

    def climb(point: Matrix) -> tuple[float, Matrix]:
        smooth = np.tanh(table @ point.astype(np.float32) / 2)
        pull = residual @ smooth
        slope = table.T @ (pull * (1 - smooth**2))
        return float(smooth @ pull) / scale, slope.astype(np.float64) / scale

    before, height = weights, climb(weights)[0]
    momentum, length = 1.0, FIRST_LENGTH
    for _ in range(REFINEMENTS):
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = weights + (momentum - 1) / following * (weights - before)
        start, slope = climb(ahead)
        steepness = float(slope @ slope)
        while (reached := climb(ahead + length * slope)[0]) < start + length * steepness / 2:
            length /= 2
        before, weights, momentum = weights, ahead + length * slope, following
        gain, height = reached - height, reached
        if abs(gain) <= LEAST_GAIN * abs(height):
            break
    return weights


def signs(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """-1 or +1; zero counts as positive."""
    return np.where(values >= 0, np.float32(1), np.float32(-1))


def learn(known: Known, bits: int, seed: int, *, anchors: int = ANCHORS, ridge: float = RIDGE) -> KernelCoder:
    """KSH looks at all items and at the known pairs."""
    sides = known.features, known.labelled, known.signed()
    return learn_ksh_kernel(*sides, bits, seed, anchors=anchors, ridge=ridge)
