"""How hard it is to tell by their similarity whether two items are alike."""

import numpy as np
from numpy.typing import NDArray

from ..unsupervised.share import USUAL, likelihood_ratio, log_odds

Floats = NDArray[np.floating]

ASSUMED = 5  # answers of either kind that are taken for granted, so that the first ones say not all


def doubts(similarities: Floats, known: Floats, similar: NDArray[np.bool_]) -> Floats:
    """(m,) the smaller, the harder to tell: how far the odds of being alike are from even.

    Args:
        similarities: (m,) of pairs that may be asked about, drawn by chance.
        known: (k,) similarities of pairs that people told apart.
        similar: (k,) which of these are alike.
    """
    if not len(similarities):
        return similarities
    # until people say otherwise, a usual share of the pairs is alike: the most similar ones
    edge, spread = np.quantile(similarities, 1 - USUAL), similarities.std()
    typical = edge + spread * np.array([0.5, -0.5])
    known = np.concatenate([known, np.repeat(typical, ASSUMED)])
    similar = np.concatenate([similar, np.repeat([True, False], ASSUMED)])
    # Answers were chosen by similarity, so how many of them are alike at a similarity holds for all pairs.
    return np.asarray(
        np.abs(likelihood_ratio(known, similar, similarities) + log_odds(float(similar.mean())))
    )
