"""Which differences between alike items do not matter: a metric from alike pairs, or from neighbours.

Relevant component analysis (Shental et al., ECCV 2002): differences within alike pairs are made equally small
in every direction. Until there are enough pairs, nearest neighbours stand in for them.
"""

import torch
from torch import Tensor

STAND_IN = 100  # alike pairs that neighbours count for
SHRINK = 0.05  # towards leaving all directions as they are


def scatter(first: Tensor, second: Tensor) -> Tensor:
    """(d, d) how pairs of rows differ on average, with trace 1."""
    difference = first - second
    spread = difference.T @ difference
    return spread / spread.trace().clamp(min=1e-12)


def blend(of_neighbours: Tensor, of_pairs: Tensor, pairs: int) -> Tensor:
    """The scatter of alike pairs, with that of neighbours in place of the pairs that are missing."""
    share = pairs / (pairs + STAND_IN)
    return torch.lerp(of_neighbours, of_pairs, share)


def whitening(spread: Tensor) -> Tensor:
    """(d, d) transform after which ``spread`` is the same in every direction, nearly."""
    size = len(spread)
    target = torch.lerp(spread * size, torch.eye(size), SHRINK)
    values, vectors = torch.linalg.eigh(target.double())  # in single precision it may not converge
    white: Tensor = vectors @ torch.diag(values.rsqrt()) @ vectors.T
    return white.float()
