"""Codes by linear projection, and the statistics that several systems start from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError

Floats = NDArray[np.floating]
Matrix = NDArray[np.float64]
STRIP = 8192  # rows at a time, so that features of a large collection stay on disk


@dataclass(frozen=True)
class LinearCoder:
    """sgn((x - center) projection).

    Attributes:
        center: (d,) mean of the training items.
        projection: (d, bits).
    """

    center: Matrix
    projection: Matrix

    def __call__(self, features: Floats) -> NDArray[np.float32]:
        """(n, d) features → (n, bits) real outputs, whose signs are the code."""
        projection, center = self.projection.astype(np.float32), self.center.astype(np.float32)
        parts = [(strip - center) @ projection for strip in strips(features)]
        return np.concatenate(parts)


def strips(features: Floats) -> Iterator[NDArray[np.float32]]:
    """The features as float32, some rows at a time."""
    for start in range(0, len(features), STRIP):
        yield np.asarray(features[start : start + STRIP], np.float32)


def mean_and_covariance(features: Floats) -> tuple[Matrix, Matrix]:
    """(d,) mean and (d, d) covariance, X'X / n of the centred items."""
    center = np.sum([strip.sum(axis=0, dtype=np.float64) for strip in strips(features)], axis=0)
    center /= len(features)
    covariance = np.zeros((features.shape[1], features.shape[1]))
    for strip in strips(features):
        centred = strip - center.astype(np.float32)
        covariance += centred.T @ centred
    return center, covariance / len(features)


def check_directions(name: str, count: int, width: int) -> None:
    """Refuse more bits than there are directions; ``name`` is the setting that says how many bits."""
    if count > width:
        raise UserError(
            f"{name}={count} needs as many directions, and vectors of {width} numbers have only {width}: "
            "choose fewer"
        )


def principal_directions(covariance: Matrix, count: int) -> Matrix:
    """(d, count) eigenvectors of the largest eigenvalues, largest first."""
    check_directions("bits", count, len(covariance))
    _, vectors = np.linalg.eigh(covariance)
    return np.ascontiguousarray(vectors[:, ::-1][:, :count])
