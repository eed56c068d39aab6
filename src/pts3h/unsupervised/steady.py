"""Bits of what makes a picture this one: where it differs from others, and not from copies of its own.

The directions in which a collection differs most say which kind of picture one is, and all pictures of a kind
would share a code. So all principal directions count alike, but for those in which copies differ: a Wiener
filter, applied twice, leaves little of them. The bits are a random rotation of what is left.
"""

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from .linear import Floats, LinearCoder, Matrix, mean_and_covariance, principal_directions

DIRECTIONS = 128  # that count
ITEMS_PER_DIRECTION = 4  # fewer say too little of how much a direction varies
NOTHING = 1e-6  # of the largest variance: a direction that nobody differs in


def learn_steady_bits(features: Floats, copies: NDArray[np.floating], bits: int, seed: int) -> LinearCoder:
    """Learn from items and, where there are any, from perturbed copies of some.

    Args:
        features: (n, d).
        copies: (m, c, d) features of perturbed copies of the first m items; none where c is 0.
        bits: how many.
        seed: of the rotation.
    """
    center, covariance = mean_and_covariance(features)
    count = max(bits, min(DIRECTIONS, len(features) // ITEMS_PER_DIRECTION))
    directions = principal_directions(covariance, min(count, features.shape[1]))
    variance = np.einsum("dk,dk->k", directions, covariance @ directions)
    scale = np.where(variance > NOTHING * variance[0], 1 / np.sqrt(np.maximum(variance, 1e-30)), 0.0)
    alike = LinearCoder(center, directions * scale)
    wiener = np.linalg.inv(np.eye(len(scale)) + noise(alike, features, copies))
    filtered = alike.projection @ wiener @ wiener
    return LinearCoder(center, filtered @ random_rotation(directions, bits, seed))


def random_rotation(directions: Matrix, bits: int, seed: int) -> Matrix:
    """(k, bits) orthonormal; drawn in the space of the items, since a direction may have either sign."""
    drawn = default_rng((seed, 12)).standard_normal((len(directions), bits))
    rotation, triangle = np.linalg.qr(directions.T @ drawn)
    return np.asarray(rotation * np.sign(np.diagonal(triangle)))


def noise(coder: LinearCoder, features: Floats, copies: NDArray[np.floating]) -> Matrix:
    """(k, k) covariance of how copies differ from their item; none without copies."""
    some, each, width = copies.shape
    size = coder.projection.shape[1]
    if not each:
        return np.zeros((size, size))
    clean = np.repeat(coder(features[:some]), each, axis=0)
    difference = (coder(copies.reshape(-1, width)) - clean).astype(np.float64)
    return np.asarray(difference.T @ difference / len(difference))
