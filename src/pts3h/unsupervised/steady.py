"""Bits of what makes a picture this one: where it differs from others, and not from copies of its own.

The directions in which a collection differs most say which kind of picture one is, and all pictures of a kind
would share a code. So all principal directions count alike, but for those in which copies differ: a Wiener
filter, applied twice, leaves little of them. The bits are a random rotation of what is left. Where no copies
are known, they are assumed to differ as much in one direction as in another.
"""

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from .linear import Floats, LinearCoder, Matrix, mean_and_covariance, principal_directions

DIRECTIONS = 128  # that count
ITEMS_PER_DIRECTION = 4  # fewer say too little of how much a direction varies
ASSUMED = 0.5  # variance of unknown copies, of the median variance of the directions
NOTHING = 1e-6  # of the largest variance: a direction that nobody differs in


def learn_steady_bits(features: Floats, copies: NDArray[np.floating], bits: int, seed: int) -> LinearCoder:
    """Learn from items and, where there are any, from perturbed copies of some.

    Args:
        features: (n, d).
        copies: (m, c, d) features of perturbed copies of the first m items, where there are any.
        bits: how many.
        seed: of the rotation.
    """
    center, covariance = mean_and_covariance(features)
    count = max(bits, min(DIRECTIONS, len(features) // ITEMS_PER_DIRECTION))
    directions = principal_directions(covariance, min(count, features.shape[1]))
    variance = np.einsum("dk,dk->k", directions, covariance @ directions)
    scale = np.where(variance > NOTHING * variance[0], 1 / np.sqrt(np.maximum(variance, 1e-30)), 0.0)
    alike = LinearCoder(center, directions * scale)
    spread = (
        noise(alike, features, copies) if copies.size else np.diag(ASSUMED * np.median(variance) * scale**2)
    )
    wiener = np.linalg.inv(np.eye(len(scale)) + spread)
    filtered = alike.projection @ wiener @ wiener
    return LinearCoder(center, filtered @ random_rotation(directions, bits, seed))


def random_rotation(directions: Matrix, bits: int, seed: int) -> Matrix:
    """(k, bits) orthonormal; drawn in the space of the items, since a direction may have either sign."""
    drawn = default_rng((seed, 12)).standard_normal((len(directions), bits))
    rotation, triangle = np.linalg.qr(directions.T @ drawn)
    return np.asarray(rotation * np.sign(np.diagonal(triangle)))


def noise(coder: LinearCoder, features: Floats, copies: NDArray[np.floating]) -> Matrix:
    """(k, k) covariance of how copies differ from their item."""
    some, each, width = copies.shape
    clean = np.repeat(coder(features[:some]), each, axis=0)
    difference = (coder(copies.reshape(-1, width)) - clean).astype(np.float64)
    return np.asarray(difference.T @ difference / len(difference))
