"""SH, spectral hashing (Weiss, Torralba and Fergus 2008): PCA, then the slowest sine modes along its axes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...unsupervised.linear import (
    Floats,
    LinearCoder,
    Matrix,
    mean_and_covariance,
    principal_directions,
    strips,
)
from .known import Known


@dataclass(frozen=True)
class SpectralCoder:
    """sin(pi / 2 + k pi (x - low) / range) of one principal axis and one k a bit.

    Attributes:
        axes: onto the principal directions.
        low: (axes,) smallest training value along each.
        extent: (axes,) range of the training values.
        modes: (bits, 2) axis and k of each bit.
    """

    axes: LinearCoder
    low: Matrix
    extent: Matrix
    modes: NDArray[np.int64]

    def __call__(self, features: Floats) -> NDArray[np.float32]:
        """(n, d) features → (n, bits) real outputs, whose signs are the code."""
        axis, k = self.modes.T
        outputs = []
        for strip in strips(features):
            place = (self.axes(strip) - self.low) / self.extent
            outputs.append(np.sin(np.pi / 2 + k * np.pi * place[:, axis]).astype(np.float32))
        return np.concatenate(outputs)


def learn_sh(features: Floats, bits: int) -> SpectralCoder:
    """Principal axes of the training items (n, d), and the modes of smallest eigenvalue along them."""
    center, covariance = mean_and_covariance(features)
    axes = LinearCoder(center, principal_directions(covariance, min(bits, features.shape[1])))
    placed = axes(features).astype(np.float64)
    low, high = placed.min(axis=0), placed.max(axis=0)
    extent = np.maximum(high - low, 1e-12)
    return SpectralCoder(axes, low, extent, slowest_modes(extent, bits))


def slowest_modes(extent: Matrix, bits: int) -> NDArray[np.int64]:
    """(bits, 2) of axis and k = 1, 2, ...: the analytical eigenvalue grows with k / range, smallest first."""
    candidates = [(k / width, axis, k) for axis, width in enumerate(extent) for k in range(1, bits + 1)]
    return np.array([(axis, k) for _, axis, k in sorted(candidates)[:bits]], np.int64)


def learn(known: Known, bits: int, seed: int) -> SpectralCoder:
    """SH looks at the items alone, and has nothing random."""
    return learn_sh(known.features, bits)
