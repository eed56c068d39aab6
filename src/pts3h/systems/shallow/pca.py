"""PCA with a random rotation: what ITQ starts from, and the least that codes without a label should do."""

import numpy as np

from ...unsupervised.linear import Floats, LinearCoder, mean_and_covariance, principal_directions
from .known import Known


def learn_pca(features: Floats, bits: int, seed: int) -> LinearCoder:
    """Principal directions of the training items (n, d), turned so that all bits share the spread."""
    center, covariance = mean_and_covariance(features)
    rotation, _ = np.linalg.qr(np.random.default_rng((seed, 13)).standard_normal((bits, bits)))
    return LinearCoder(center, principal_directions(covariance, bits) @ rotation)


def learn(known: Known, bits: int, seed: int) -> LinearCoder:
    """PCA looks at the items alone."""
    return learn_pca(known.features, bits, seed)
