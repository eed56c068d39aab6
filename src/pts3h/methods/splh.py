"""SPLH, sequential projection learning (Wang, Kumar and Chang 2012): semi-supervised, linear, bit by bit.

Each bit is the top eigenvector of X'X/n + eta Xl'S Xl/ml on what earlier bits left of X. The pairs that a bit
violates count more in the next one.
"""

import numpy as np

from .linear import Floats, LinearCoder, Matrix, mean_and_covariance
from .signed_pairs import Signed

ETA = 1.0
STEP = 1.0  # how much a violated pair adds to its own weight


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
    center, covariance = mean_and_covariance(features)
    known_items = (np.asarray(labelled, np.float32) - center.astype(np.float32)).astype(np.float32)
    # the two parts weigh alike at eta = 1, whatever the scale of the features and the number of pairs
    pull = signed.astype(np.float32)
    directions = np.zeros((len(covariance), 0))
    for _ in range(bits):
        direction = next_direction(covariance, known_items, pull, eta, directions)
        directions = np.concatenate([directions, direction[:, None]], axis=1)
        weigh_violations(pull, known_items @ direction.astype(np.float32))
    return LinearCoder(center, directions)


def next_direction(
    covariance: Matrix, known_items: Signed, pull: Signed, eta: float, taken: Matrix
) -> Matrix:
    """(d,) top eigenvector of X'X/n + eta Xl'S Xl/ml outside of the directions already taken."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    count, size = known_items.shape

    def outside(vector: Matrix) -> Matrix:
        return vector - taken @ (taken.T @ vector)

    def apply(vector: Matrix) -> Matrix:
        kept = outside(vector.ravel())
        pairs = known_items.T @ (pull @ (known_items @ kept.astype(np.float32)))
        return outside(covariance @ kept + eta / count * pairs)

    operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
    start = outside(np.ones(size) + np.arange(size) / size)
    _, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=1e-5)
    direction = outside(vectors[:, 0])
    return np.asarray(direction / np.linalg.norm(direction))


def weigh_violations(pull: Signed, outputs: Signed) -> None:
    """Subtract y_i y_j where its sign is not the pair's, so that the pair counts more; in place."""
    scale = float(np.square(outputs).mean()) or 1.0
    products = np.outer(outputs, outputs) * np.float32(STEP / scale)
    violated = (pull * products < 0)
    pull -= np.where(violated, products, np.float32(0))
