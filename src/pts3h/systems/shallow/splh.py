"""SPLH, sequential projection learning (Wang, Kumar and Chang 2012): semi-supervised, linear, bit by bit.

Each bit is the top eigenvector of X'X/n + eta Xl'S Xl/m. The pairs that it violates count more in the next
one, and what it explains of X is taken out. Decided here: it is taken out of the variance alone, so that a
later bit may come back to directions in which pairs are still wrong (docs/comparing.md has the figures).
"""

import numpy as np

from ...unsupervised.linear import Floats, LinearCoder, Matrix, mean_and_covariance
from .known import Known
from .signed_pairs import Signed

ETA = 1.0  # weight of the pairs against the variance
STEP = 0.1  # how much a violated pair adds to its own weight


def learn_splh(
    features: Floats, labelled: Floats, signed: Signed, bits: int, *, eta: float = ETA
) -> LinearCoder:
    """Learn from pairs and from the spread of all items.

    Args:
        features: (n, d) training items.
        labelled: (m, d) items of known pairs.
        signed: (m, m) what is known of them; changed on the way.
        bits: code length.
        eta: weight of the pairs against the variance.
    """
    center, variance = mean_and_covariance(features)
    known_items = np.asarray(labelled, np.float32) - center.astype(np.float32)
    directions = []
    for _ in range(bits):
        direction = top_direction(variance, known_items, signed, eta)
        directions.append(direction)
        weigh_violations(signed, known_items @ direction.astype(np.float32))
        deflate(variance, direction)
    return LinearCoder(center, np.stack(directions, axis=1))


def top_direction(variance: Matrix, known_items: Signed, signed: Signed, eta: float) -> Matrix:
    """(d,) top eigenvector of X'X/n + eta Xl'S Xl/m, without forming the second matrix."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    count, size = known_items.shape

    def apply(vector: Matrix) -> Matrix:
        pairs = known_items.T @ (signed @ (known_items @ vector.ravel().astype(np.float32)))
        return np.asarray(variance @ vector.ravel() + eta / count * pairs)

    operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
    start = 1 + np.arange(size) / size  # any fixed vector, so that runs repeat
    _, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=1e-5, rng=np.random.default_rng(0))
    return np.asarray(vectors[:, 0])


def weigh_violations(signed: Signed, outputs: Signed) -> None:
    """Subtract y_i y_j where its sign is not the pair's, so that the pair counts more; in place."""
    scale = float(np.square(outputs).mean()) or 1.0
    products = np.outer(outputs, outputs) * np.float32(STEP / scale)
    products[signed * products >= 0] = 0
    signed -= products


def deflate(variance: Matrix, direction: Matrix) -> None:
    """(I - ww') V (I - ww'), the variance of X without its component along w; in place."""
    along = variance @ direction
    variance -= np.outer(direction, along) + np.outer(along, direction)
    variance += float(direction @ along) * np.outer(direction, direction)


def learn(known: Known, bits: int, seed: int, *, eta: float = ETA) -> LinearCoder:
    """SPLH looks at all items and at the known pairs, and has nothing random."""
    return learn_splh(known.features, known.labelled, known.signed(), bits, eta=eta)
