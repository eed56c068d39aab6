"""The graph of neighbours against dense linear algebra in double precision."""

import numpy as np
import pytest
import torch

from pts3h.unsupervised.diffusion import NEIGHBOURS, STEPS, diffuse, leading_eigenvectors, random_walk
from pts3h.unsupervised.neighbours import nearest


def rows(count=300, width=12, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, width))
    return (centres[rng.integers(4, size=count)] + 0.6 * rng.normal(size=(count, width))).astype(np.float32)


def cosines(a, b):
    a, b = (part.astype(np.float64) for part in (a, b))
    return (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T


def dense_walk(points):
    """D^-1/2 W D^-1/2 of the neighbour graph, edge by edge."""
    similar = cosines(points, points)
    np.fill_diagonal(similar, -np.inf)
    weights = np.zeros_like(similar)
    for item, order in enumerate(np.argsort(-similar, axis=1)[:, :NEIGHBOURS]):
        weights[item, order] = np.maximum(similar[item, order], 1e-3) ** 3
    weights += weights.T
    degree = weights.sum(axis=1)
    return weights / np.sqrt(degree[:, None] * degree[None, :])


@pytest.mark.parametrize("same", [True, False])
def test_nearest_by_brute_force(same, monkeypatch):
    monkeypatch.setattr("pts3h.unsupervised.neighbours.STRIP", 64)
    points = rows()
    others = points if same else rows(200, seed=1)
    found, places = nearest(torch.from_numpy(points), torch.from_numpy(others), 7, same=same)
    expected = cosines(points, others)
    if same:
        np.fill_diagonal(expected, -np.inf)
    order = np.argsort(-expected, axis=1)[:, :7]
    np.testing.assert_allclose(found, np.take_along_axis(expected, order, 1), atol=1e-6)
    assert (places.numpy() == order).mean() > 0.999


def test_no_more_neighbours_than_there_are():
    assert nearest(torch.eye(3), torch.eye(3), 9, same=True)[1].shape == (3, 2)
    assert nearest(torch.eye(3), torch.eye(3), 9)[1].shape == (3, 3)


def test_the_walk_is_that_of_the_definition():
    points = rows()
    np.testing.assert_allclose(
        random_walk(torch.from_numpy(points)).to_dense(), dense_walk(points), atol=1e-5
    )


def test_similarities_along_the_graph_are_those_of_all_eigenvectors():
    points = rows()
    values, vectors = np.linalg.eigh(dense_walk(points))
    order = np.argsort(-values)[1:]
    coordinates = vectors[:, order] * np.maximum(values[order], 0) ** STEPS
    found = diffuse(torch.from_numpy(points)).numpy()
    np.testing.assert_allclose(found @ found.T, cosines(coordinates, coordinates), atol=2e-2)


def test_leading_eigenvectors():
    walk = dense_walk(rows())
    values, vectors = leading_eigenvectors(torch.from_numpy(walk).float(), 8)
    expected = np.linalg.eigvalsh(walk)[::-1][:8]
    np.testing.assert_allclose(values, expected, atol=1e-3)
    np.testing.assert_allclose(walk @ vectors.numpy(), vectors.numpy() * values.numpy(), atol=2e-2)


def test_it_follows_the_shape_of_the_collection():
    """Two rings around the same centre: cosines mix them, ways along the graph do not."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 600)
    ring = np.arange(600) % 2
    lift = np.stack([np.cos(angle), np.sin(angle), 0.7 * (2 * ring - 1)], axis=1)
    found = diffuse(torch.from_numpy(lift + 0.02 * rng.normal(size=lift.shape)).float())
    similar, same = (found @ found.T).numpy(), ring[:, None] == ring[None, :]
    opposite = np.cos(angle[:, None] - angle[None, :]) < -0.8
    near = np.cos(angle[:, None] - angle[None, :]) > 0.95
    assert similar[near & same].mean() > similar[near & ~same].mean() + 0.3
    assert opposite.any()


@pytest.mark.parametrize("count", [2, 3, 9, 40])
def test_tiny_and_constant_collections(count):
    for points in (torch.zeros(count, 5), torch.ones(count, 5), torch.randn(count, 5)):
        assert torch.isfinite(diffuse(points)).all()


def test_no_warning_and_the_same_twice():
    points = torch.from_numpy(rows())
    assert torch.equal(diffuse(points), diffuse(points))
