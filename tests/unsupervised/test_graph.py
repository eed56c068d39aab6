"""The graph of neighbours against dense linear algebra in double precision."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from pts3h.unsupervised.diffusion import (
    LINK,
    LOCAL,
    NEIGHBOURS,
    SHARPNESS,
    STEPS,
    diffuse,
    leading_eigenvectors,
    random_walk,
)
from pts3h.unsupervised.neighbours import nearest


def rows(count=300, width=12, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, width))
    return (centres[rng.integers(4, size=count)] + 0.6 * rng.normal(size=(count, width))).astype(np.float32)


def cosines(a, b):
    a, b = (part.astype(np.float64) for part in (a, b))
    return (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T


def dense_walk(points, alike=()):
    """D^-1/2 W D^-1/2 of the graph of neighbours and links, edge by edge."""
    similar = cosines(points, points)
    np.fill_diagonal(similar, -np.inf)
    nearest_first = np.argsort(-similar, axis=1)[:, :NEIGHBOURS]
    squared = 2 - 2 * similar
    scale = [np.sqrt(squared[item, order[LOCAL - 1]]) for item, order in enumerate(nearest_first)]
    weights = np.zeros_like(similar)
    for item, order in enumerate(nearest_first):
        for other in order:
            weights[item, other] = np.exp(-SHARPNESS * squared[item, other] / scale[item] / scale[other])
    weights += weights.T
    degree, links = weights.sum(axis=1), np.bincount(np.ravel(alike).astype(int), minlength=len(points))
    for first, second in alike:
        link = LINK * np.sqrt(degree[first] / links[first] * degree[second] / links[second])
        weights[first, second] += link
        weights[second, first] += link
    degree = weights.sum(axis=1)
    return weights / np.sqrt(degree[:, None] * degree[None, :])


LINKS = [(0, 1), (0, 2), (5, 9)]


@pytest.mark.parametrize("same", [True, False])
def test_nearest_by_brute_force(same, monkeypatch):
    monkeypatch.setattr("pts3h.unsupervised.neighbours.AT_ONCE", 64 * 100)
    points = rows()
    others = points if same else rows(200, seed=1)
    found, places = nearest(torch.from_numpy(points), torch.from_numpy(others), 7, same=same)
    expected = cosines(points, others)
    if same:
        np.fill_diagonal(expected, -np.inf)
    order = np.argsort(-expected, axis=1)[:, :7]
    np.testing.assert_allclose(found, np.take_along_axis(expected, order, 1), atol=1e-6)
    assert (places.numpy() == order).mean() > 0.999


MEASURE = """
import resource, torch
from pts3h.unsupervised.neighbours import nearest
from pts3h.util.memory import keep_freed_memory
keep_freed_memory()
torch.set_num_threads(1)
rows, others = torch.randn(2, 8), torch.randn(30_000, 8)
nearest(rows, others, 5)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nearest(torch.randn(6_000, 8), others, 5)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the largest size is in other units")
def test_memory_does_not_grow_with_every_strip():
    """Eleven strips of 64 MB each take the place of one."""
    grown = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 200_000  # kilobytes


def test_no_more_neighbours_than_there_are():
    assert nearest(torch.eye(3), torch.eye(3), 9, same=True)[1].shape == (3, 2)
    assert nearest(torch.eye(3), torch.eye(3), 9)[1].shape == (3, 3)


@pytest.mark.parametrize("alike", [[], LINKS])
def test_the_walk_is_that_of_the_definition(alike):
    points = rows()
    links = torch.tensor(alike, dtype=torch.long).reshape(-1, 2)
    found = random_walk(torch.from_numpy(points), links)[0].to_dense()
    np.testing.assert_allclose(found, dense_walk(points, alike), atol=1e-5)
    assert (found != 0).sum() == (dense_walk(points, alike) != 0).sum()


@pytest.mark.parametrize("alike", [[], LINKS])
def test_similarities_along_the_graph_are_those_of_all_eigenvectors(alike):
    points = rows()
    values, vectors = np.linalg.eigh(dense_walk(points, alike))
    order = np.argsort(-values)[1:]
    coordinates = vectors[:, order] * np.maximum(values[order], 0) ** STEPS
    found = diffuse(torch.from_numpy(points), torch.tensor(alike, dtype=torch.long).reshape(-1, 2)).numpy()
    np.testing.assert_allclose(found @ found.T, cosines(coordinates, coordinates), atol=2e-2)


def test_a_link_brings_two_items_and_their_neighbours_together():
    points = rows()
    apart = np.argwhere(cosines(points, points) < -0.2)[0]
    before, after = (
        diffuse(torch.from_numpy(points), link) for link in (None, torch.from_numpy(apart)[None])
    )
    near = [nearest(torch.from_numpy(points[[end]]), torch.from_numpy(points), 6)[1][0] for end in apart]
    for first, second in ([end[:1] for end in near], [end[1:] for end in near]):
        assert (after[first] @ after[second].T).mean() > (before[first] @ before[second].T).mean()


def test_an_item_among_copies_of_others_is_not_cut_off():
    """Its neighbours are so near their own copies that a way to them would weigh nothing."""
    copies = torch.eye(4).repeat_interleave(20, dim=0)
    walk = random_walk(torch.cat([copies, torch.ones(1, 4)]))[0].to_dense()
    assert torch.isfinite(walk).all() and walk[-1].sum() > 0


def test_leading_eigenvectors():
    walk = dense_walk(rows())
    first, others = np.linalg.eigh(walk)[1][:, -1], np.linalg.eigvalsh(walk)[::-1][1:]
    values, vectors = leading_eigenvectors(*(torch.from_numpy(x).float() for x in (walk, first)), 8)
    np.testing.assert_allclose(values, others[:8], atol=1e-3)
    np.testing.assert_allclose(walk @ vectors.numpy(), vectors.numpy() * values.numpy(), atol=2e-2)
    np.testing.assert_allclose(first @ vectors.numpy(), 0, atol=1e-5)


def test_the_walk_comes_to_rest_where_it_says():
    walk, rest = random_walk(torch.from_numpy(rows()))
    np.testing.assert_allclose(walk @ rest, rest, atol=1e-5)
    np.testing.assert_allclose(rest @ rest, 1, atol=1e-5)


def test_a_graph_of_several_parts():
    """Each part has a place where the walk rests. One of them says nothing, and which one is no chance."""
    parts = [np.eye(8)[part] + rows(80, 8, seed=part) / 50 for part in (0, 1, 2)]
    points = torch.from_numpy(np.concatenate(parts)).float()
    walk, rest = (
        found.double().numpy() for found in (random_walk(points)[0].to_dense(), random_walk(points)[1])
    )
    assert (np.linalg.eigvalsh(walk)[-3:] > 1 - 1e-5).all()  # three parts
    values, vectors = np.linalg.eigh(walk - np.outer(rest, rest))
    coordinates = vectors * np.maximum(values, 0) ** STEPS
    found = diffuse(points).numpy()
    np.testing.assert_allclose(found @ found.T, cosines(coordinates, coordinates), atol=2e-2)
    order = np.random.default_rng(0).permutation(len(points))
    shuffled = diffuse(points[order]).numpy()
    np.testing.assert_allclose(shuffled @ shuffled.T, (found @ found.T)[np.ix_(order, order)], atol=2e-2)


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
