"""Similarity along the graph of neighbours: items are alike if many short ways lead from one to the other.

A cosine compares two items as if there were no others. A random walk over the graph of nearest neighbours
follows the shape of the collection instead (diffusion maps, Coifman and Lafon 2006; for image retrieval,
Iscen et al., CVPR 2017). The walk's leading eigenvectors are coordinates in which the cosine says how alike
two items are after some steps of it.
"""

import warnings

import torch
from torch import Tensor
from torch.nn import functional as F

from .neighbours import nearest

NEIGHBOURS = 15
DIMENSIONS = 200  # more than the classes of most collections; what is not needed has next to no weight
STEPS = 6  # of the walk: fewer suit many classes, more suit few; see docs/decisions.md
SHARPNESS = 3  # an edge weighs its cosine to this power
SPARE = 16  # directions beside those wanted: they settle the last of these sooner
ROUNDS, POWER = 5, 6


def diffuse(rows: Tensor) -> Tensor:
    """(n, d) items → (n, dimensions) unit vectors, whose cosines are similarities along the graph."""
    walk = random_walk(rows)
    values, vectors = leading_eigenvectors(walk, min(DIMENSIONS, len(rows) // 4 + 1))
    # the first is the same for all items of a connected graph: it tells nothing apart
    return F.normalize(vectors[:, 1:] * values[1:].clamp(min=0).pow(STEPS), dim=1)


def random_walk(rows: Tensor) -> Tensor:
    """The symmetric random walk over nearest neighbours, D^-1/2 W D^-1/2, sparse (n, n)."""
    count = len(rows)
    cosines, places = nearest(rows, rows, min(NEIGHBOURS, max(count // 10, 1)), same=True)
    starts = torch.arange(count).repeat_interleave(places.shape[1])
    ends, weights = places.flatten(), cosines.flatten().clamp(min=1e-3).pow(SHARPNESS)
    # an edge counts both ways
    edges, weights = torch.stack([torch.cat([starts, ends]), torch.cat([ends, starts])]), weights.repeat(2)
    degree = torch.zeros(count).index_add_(0, edges[0], weights).rsqrt()
    return sparse(edges, weights * degree[edges[0]] * degree[edges[1]], count)


def sparse(places: Tensor, values: Tensor, size: int) -> Tensor:
    """A square matrix by rows, which multiplies several times as fast as a list of places."""
    listed = torch.sparse_coo_tensor(places, values, (size, size), check_invariants=False).coalesce()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "in beta state"
        return listed.to_sparse_csr()


def leading_eigenvectors(walk: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest eigenvalues, largest first, and their vectors (n, count), by subspace iteration.

    The walk is made lazy, (I + S) / 2, so that no eigenvalue is negative. Small eigenvalues are not found
    exactly, and need not be: :func:`diffuse` gives them no weight.
    """
    size = walk.shape[0]
    generator = torch.Generator().manual_seed(0)
    basis = torch.randn(size, min(count + SPARE, size), generator=generator)
    for _ in range(ROUNDS):
        basis = torch.linalg.qr(basis).Q
        for _ in range(POWER):
            basis = (walk @ basis + basis) / 2
    basis = torch.linalg.qr(basis).Q
    values, rotation = torch.linalg.eigh(basis.T @ (walk @ basis))
    return values.flip(0)[:count], (basis @ rotation).flip(1)[:, :count]
