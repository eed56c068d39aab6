"""Codes of what makes a picture this one: ITQ where it differs from others, not from copies of its own."""

import numpy as np
import torch
from numpy.typing import NDArray

from .itq import learn_itq
from .linear import Floats, LinearCoder, mean_and_covariance, principal_directions
from .metric import scatter, whitening

DIRECTIONS = 256  # principal directions that may count
NOTHING = 1e-8  # copies that differ so little, squared, are the picture itself but for rounding


def learn_steady_itq(features: Floats, copies: NDArray[np.floating], bits: int, seed: int) -> LinearCoder:
    """ITQ after differences between a picture and its copies were made equally small in every direction.

    Args:
        features: (n, d).
        copies: (m, c, d) features of perturbed copies of the first m pictures.
        bits: how many.
        seed: of the rotation.
    """
    center, covariance = mean_and_covariance(features)
    directions = principal_directions(covariance, min(max(DIRECTIONS, bits), features.shape[1]))
    plain = LinearCoder(center, directions)
    some, each, width = copies.shape
    perturbed = torch.from_numpy(plain(copies.reshape(-1, width)))
    clean = torch.from_numpy(plain(features[:some])).repeat_interleave(each, dim=0)
    if float((clean - perturbed).square().sum()) < NOTHING * float(clean.square().sum()):
        return learn_itq(features, bits, seed)
    spread = scatter(clean, perturbed)
    steady = LinearCoder(center, directions @ whitening(spread).double().numpy())
    inner = learn_itq(steady(features), bits, seed)  # whose centre is 0, since the features are centred
    return LinearCoder(center, steady.projection @ inner.projection)
