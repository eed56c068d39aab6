"""Similarity along the graph of neighbours: items are alike if many short ways lead from one to the other.

A cosine compares two items as if there were no others. A random walk over the graph of nearest neighbours
follows the shape of the collection instead (diffusion maps, Coifman and Lafon 2006; for image retrieval,
Iscen et al., CVPR 2017). The walk's leading eigenvectors are coordinates in which the cosine says how alike
two items are after some steps of it. Distances are measured by how dense the items are where they are
(Zelnik-Manor and Perona, NIPS 2004), and pairs that are known to be alike are ways of their own.
"""

import warnings

import torch
from torch import Tensor
from torch.nn import functional as F

from .neighbours import nearest

NEIGHBOURS = 25
LOCAL = 7  # an item's own scale is its distance to this neighbour
DIMENSIONS = 200  # more than the classes of most collections; what is not needed has next to no weight
STEPS = 6  # of the walk: fewer suit many classes, more suit few; see docs/decisions.md
SHARPNESS = 3  # how fast the weight of an edge falls with its squared length
LEAST_WEIGHT = 1e-4  # so that no item is cut off
LINK = 0.6  # what all links of an item weigh, to all its neighbours
SPARE = 16  # directions beside those wanted: they settle the last of these sooner
ROUNDS, POWER = 5, 6


def diffuse(rows: Tensor, alike: Tensor | None = None) -> Tensor:
    """(n, d) items → (n, dimensions) unit vectors, whose cosines are similarities along the graph.

    Args:
        rows: the items.
        alike: (p, 2) items that are known to be alike, if any are.
    """
    walk, rest = random_walk(rows, alike)
    values, vectors = leading_eigenvectors(walk, rest, max(min(DIMENSIONS - 1, len(rows) // 4), 1))
    return F.normalize(vectors * values.clamp(min=0).pow(STEPS), dim=1)


def random_walk(rows: Tensor, alike: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The symmetric random walk over nearest neighbours and links, D^-1/2 W D^-1/2, sparse (n, n).

    Also the eigenvector (n,) of where it comes to rest, which tells no items apart.
    """
    count = len(rows)
    edges, weights = neighbour_edges(rows)
    if alike is not None and len(alike):
        links = links_of(alike, degrees(edges, weights, count))
        edges, weights = torch.cat([edges, alike.T], dim=1), torch.cat([weights, links])
    degree = degrees(edges, weights, count)
    scale = degree.rsqrt()
    weights = weights * scale[edges[0]] * scale[edges[1]]
    # an edge counts both ways
    walk = sparse(torch.cat([edges, edges.flip(0)], dim=1), weights.repeat(2), count)
    return walk, F.normalize(degree.sqrt(), dim=0)


def neighbour_edges(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Edges (2, e) from each item to its nearest, and their weights."""
    count = len(rows)
    cosines, places = nearest(rows, rows, min(NEIGHBOURS, max(count // 10, 1)), same=True)
    squared = (2 - 2 * cosines).clamp(min=1e-6)
    scale = squared[:, min(LOCAL, squared.shape[1]) - 1].sqrt()
    weights = torch.exp(-SHARPNESS * squared / (scale[:, None] * scale[places])).clamp(min=LEAST_WEIGHT)
    starts = torch.arange(count).repeat_interleave(places.shape[1])
    return torch.stack([starts, places.flatten()]), weights.flatten()


def links_of(alike: Tensor, degree: Tensor) -> Tensor:
    """(p,) weights of links: those of an item share a part of what its neighbours weigh, few or many.

    Otherwise items with many links would walk among themselves and lose their neighbours.
    """
    links = torch.bincount(alike.flatten(), minlength=len(degree)).clamp(min=1)
    part = degree / links
    return LINK * (part[alike[:, 0]] * part[alike[:, 1]]).sqrt()


def degrees(edges: Tensor, weights: Tensor, count: int) -> Tensor:
    """(count,) what the edges at each item weigh."""
    return torch.zeros(count).index_add_(0, edges.flatten(), weights.repeat(2))


def sparse(places: Tensor, values: Tensor, size: int) -> Tensor:
    """A square matrix by rows, which multiplies several times as fast as a list of places."""
    listed = torch.sparse_coo_tensor(places, values, (size, size), check_invariants=False).coalesce()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "in beta state"
        return listed.to_sparse_csr()


def leading_eigenvectors(walk: Tensor, rest: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest eigenvalues, largest first, and their vectors (n, count), by subspace iteration.

    The walk is made lazy, (I + S) / 2, so that no eigenvalue is negative. Small eigenvalues are not found
    exactly, and need not be: :func:`diffuse` gives them no weight.

    Args:
        walk: symmetric (n, n).
        rest: an eigenvector (n,) to leave out. It is taken out of every round, not dropped as the first that
            is found: in a graph of several parts which one comes first is a matter of rounding.
        count: how many.
    """
    size = walk.shape[0]
    generator = torch.Generator().manual_seed(0)
    basis = torch.randn(size, max(min(count + SPARE, size - 1), 1), generator=generator)
    for _ in range(ROUNDS):
        basis = torch.linalg.qr(without(basis, rest)).Q
        for _ in range(POWER):
            basis = (walk @ basis + basis) / 2
    basis = torch.linalg.qr(without(basis, rest)).Q
    values, rotation = torch.linalg.eigh(basis.T @ (walk @ basis))
    return values.flip(0)[:count], (basis @ rotation).flip(1)[:, :count]


def without(basis: Tensor, direction: Tensor) -> Tensor:
    """The columns of ``basis`` less what they have in a direction of length 1."""
    return basis - torch.outer(direction, direction @ basis)
