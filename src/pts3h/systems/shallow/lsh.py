"""LSH: signs of random projections (Charikar 2002). Two items differ in a bit with probability angle / pi."""

import numpy as np

from ...unsupervised.linear import Floats, LinearCoder, mean_and_covariance
from .known import Known


def learn_lsh(features: Floats, bits: int, seed: int) -> LinearCoder:
    """Random Gaussian directions through the mean of the training items (n, d)."""
    center, _ = mean_and_covariance(features)
    projection = np.random.default_rng((seed, 11)).standard_normal((features.shape[1], bits))
    return LinearCoder(center, projection)


def learn(known: Known, bits: int, seed: int) -> LinearCoder:
    """LSH looks at the items alone."""
    return learn_lsh(known.features, bits, seed)
