"""The unsupervised systems against what is known of them."""

from itertools import pairwise

import faiss
import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA

from pts3h.systems.shallow.lsh import learn_lsh
from pts3h.systems.shallow.sh import learn_sh, slowest_modes
from pts3h.unsupervised.itq import best_rotation, learn_itq
from pts3h.unsupervised.linear import STRIP, mean_and_covariance, principal_directions


def features(count=400, size=16, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, size)) * np.linspace(1, 4, size) + 5


class TestLinear:
    def test_mean_and_covariance_in_strips(self):
        rows = features(STRIP + 100, 4).astype(np.float32)
        center, covariance = mean_and_covariance(rows)
        np.testing.assert_allclose(center, rows.mean(axis=0), rtol=1e-4)
        np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True), atol=1e-3)

    def test_principal_directions_are_those_of_sklearn(self):
        rows = features()
        ours = principal_directions(mean_and_covariance(rows)[1], 5)
        theirs = PCA(5).fit(rows).components_.T
        np.testing.assert_allclose(np.abs((ours * theirs).sum(axis=0)), 1, atol=1e-5)


class TestLSH:
    def test_a_bit_differs_as_often_as_the_angle_says(self):
        """P(bits differ) = angle / pi, without bias."""
        angles = np.array([0.3, 1.0, np.pi / 2, 2.5])
        rays = np.concatenate([[[1.0, 0.0]], np.stack([np.cos(angles), np.sin(angles)], axis=1)])
        rows = np.concatenate([rays, -rays])  # the mean is zero
        bits = learn_lsh(rows, 40_000, seed=3)(rows) >= 0
        differing = (bits[1:5] != bits[0]).mean(axis=1)
        np.testing.assert_allclose(differing, angles / np.pi, atol=4 * 0.5 / np.sqrt(40_000))

    def test_seeds_differ(self):
        first, second = (learn_lsh(features(), 8, seed).projection for seed in (0, 1))
        assert not np.allclose(first, second)


class TestITQ:
    def test_the_error_falls_every_round(self):
        rows = features()
        projected = (rows - rows.mean(axis=0)) @ principal_directions(mean_and_covariance(rows)[1], 8)
        rotation, errors = best_rotation(projected, 50, seed=0)
        assert len(errors) == 51
        assert all(later <= earlier + 1e-9 for earlier, later in pairwise(errors))
        assert errors[-1] < errors[0] - 1e-3
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(8), atol=1e-10)

    def test_each_round_takes_the_best_rotation_for_its_codes(self):
        """No other rotation is nearer to the codes; the transposed one, a known slip, is farther."""
        rng = np.random.default_rng(0)
        projected = rng.normal(size=(200, 4)) * [4, 3, 2, 1]
        start, _ = best_rotation(projected, 0, seed=5)
        codes = np.where(projected @ start >= 0, 1.0, -1.0)
        best, _ = best_rotation(projected, 1, seed=5)
        error = np.square(codes - projected @ best).sum()
        others = [np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(300)]
        assert all(np.square(codes - projected @ other).sum() >= error for other in [*others, best.T, start])
        assert np.square(codes - projected @ best.T).sum() > 1.01 * error

    def test_every_round_is_an_orthogonal_procrustes_problem(self):
        """From the same start, scipy's solution of each round leads to the same rotation."""
        projected = np.random.default_rng(2).normal(size=(300, 6)) * [5, 4, 3, 2, 1, 1]
        rotation, _ = best_rotation(projected, 0, seed=4)
        for _ in range(50):
            rotation, _ = orthogonal_procrustes(projected, np.where(projected @ rotation >= 0, 1.0, -1.0))
        np.testing.assert_allclose(best_rotation(projected, 50, seed=4)[0], rotation, atol=1e-9)

    def test_the_error_is_not_above_that_of_faiss(self):
        """faiss starts elsewhere, and its error may rise again; the best of ours is at least as low."""
        projected = np.random.default_rng(3).normal(size=(500, 8)) * np.linspace(4, 1, 8)
        theirs = faiss.ITQMatrix(8)
        theirs.train(projected.astype(np.float32))
        rotated = theirs.apply(projected.astype(np.float32)).astype(np.float64)
        error = np.square(np.where(rotated >= 0, 1.0, -1.0) - rotated).mean()
        assert min(best_rotation(projected, 50, seed)[1][-1] for seed in range(5)) <= error + 1e-6

    def test_a_rotated_cube_is_found(self):
        """Corners of a cube, turned: the right rotation quantizes them without error."""
        corners = np.random.default_rng(0).choice([-1.0, 1.0], (500, 3))
        turned = corners @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        errors = [best_rotation(turned, 50, seed)[1][-1] for seed in range(3)]
        assert min(errors) == pytest.approx(0, abs=1e-12)

    def test_codes_are_those_of_the_rotated_components(self):
        rows = features().astype(np.float32)
        coder = learn_itq(rows, 6, seed=0)
        expected = (rows - rows.mean(axis=0)) @ coder.projection
        np.testing.assert_allclose(coder(rows), expected, atol=1e-3)
        np.testing.assert_allclose(coder.projection.T @ coder.projection, np.eye(6), atol=1e-5)


class TestSpectral:
    def test_modes_by_hand(self):
        """Ranges 4 and 1.5: eigenvalues k / range are .25, .5, .667, .75, 1.0, ..."""
        np.testing.assert_array_equal(
            slowest_modes(np.array([4.0, 1.5]), 5), [[0, 1], [0, 2], [1, 1], [0, 3], [0, 4]]
        )

    def test_a_uniform_line_is_cut_in_halves_then_quarters(self):
        line = np.stack([np.linspace(0, 1, 101), np.zeros(101)], axis=1)
        bits = learn_sh(line, 2)(line) >= 0
        changes = [np.flatnonzero(np.diff(bits[:, bit].astype(int))) for bit in (0, 1)]
        np.testing.assert_allclose(line[changes[0] + 1, 0], [0.5], atol=0.02)
        np.testing.assert_allclose(line[changes[1] + 1, 0], [0.25, 0.75], atol=0.02)

    def test_distances_are_those_of_the_formula_in_double_precision(self):
        """Every mode of every axis by loops; an axis may point either way, which turns whole bits over."""
        rows, bits = features(size=6, seed=7), 12
        axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]
        placed = (rows - rows.mean(axis=0)) @ axes.T
        low, extent = placed.min(axis=0), placed.max(axis=0) - placed.min(axis=0)
        modes = sorted((k / extent[axis], axis, k) for axis in range(6) for k in range(1, 2 * bits))[:bits]
        waves = [np.cos(k * np.pi * (placed[:, axis] - low[axis]) / extent[axis]) for _, axis, k in modes]
        expected, found = np.stack(waves, axis=1) >= 0, learn_sh(rows, bits)(rows) >= 0
        near_zero = np.abs(np.stack(waves, axis=1)) < 1e-4  # float32 may round these to the other side
        same, turned = ((found == want) | near_zero for want in (expected, ~expected))
        assert near_zero.mean() < 0.01
        assert (same.all(axis=0) | turned.all(axis=0)).all()

    def test_more_bits_than_axes(self):
        assert learn_sh(features(size=3), 8)(features(size=3)).shape == (400, 8)
