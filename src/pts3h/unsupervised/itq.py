"""ITQ: PCA, then the rotation that brings the projections nearest to their signs (Gong and Lazebnik 2011)."""

import numpy as np

from .linear import Floats, LinearCoder, Matrix, mean_and_covariance, principal_directions

ROUNDS = 50


def learn_itq(features: Floats, bits: int, seed: int) -> LinearCoder:
    """Principal directions of the training items (n, d), rotated."""
    center, covariance = mean_and_covariance(features)
    directions = principal_directions(covariance, bits)
    projected = LinearCoder(center, directions)(features)
    rotation, _ = best_rotation(projected.astype(np.float64), ROUNDS, seed)
    return LinearCoder(center, directions @ rotation)


def best_rotation(projected: Matrix, rounds: int, seed: int) -> tuple[Matrix, list[float]]:
    """Alternate between codes B = sgn(V R) and the rotation R that minimises |B - V R|².

    With B'V = P S Q' that rotation is R = Q P' (its transpose is a common slip, which still gives codes).

    Args:
        projected: (n, bits) V.
        rounds: how often.
        seed: of the random rotation it starts from.

    Returns:
        (bits, bits) rotation, and the mean quantization error before each round and after the last.
    """
    size = projected.shape[1]
    rotation, _ = np.linalg.qr(np.random.default_rng((seed, 12)).standard_normal((size, size)))
    errors = []
    for _ in range(rounds):
        rotated = projected @ rotation
        codes = np.where(rotated >= 0, 1.0, -1.0)
        errors.append(float(np.square(codes - rotated).mean()))
        left, _, right = np.linalg.svd(codes.T @ projected)
        rotation = right.T @ left.T
    rotated = projected @ rotation
    errors.append(float(np.square(np.where(rotated >= 0, 1.0, -1.0) - rotated).mean()))
    return rotation, errors
