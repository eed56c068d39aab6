"""MIHash (Cakir et al., ICCV 2017): distances should tell an anchor's similar items from the others."""

import torch
from torch import Tensor

from .pairwise import PairwiseLoss


class MIHash(PairwiseLoss):
    """The negative mutual information of Hamming distance and similarity, mean over anchors.

    Distances are put into soft (triangular) histograms, so that everything has a gradient.

    Args:
        bits: code length b.
        bins: intervals of the histogram over [0, b].
        slope: a of the soft sign 2 sigmoid(a F) - 1; with 1, small fresh outputs hardly start to train. Bins
            and slope are its authors' for CIFAR-10.
    """

    def __init__(self, bits: int, *, bins: int = 12, slope: float = 30.0) -> None:
        self.bits, self.bins, self.slope = bits, bins, slope

    def supervised(self, outputs: Tensor, similar: Tensor, known: Tensor) -> Tensor:
        """Minus the mutual information over the known pairs."""
        soft = torch.tanh(self.slope / 2 * outputs)  # 2 sigmoid(a F) - 1
        return -mutual_information(0.5 - soft @ soft.T / (2 * self.bits), similar, known, self.bins)

    def pseudo(self, cosine: Tensor, similar: Tensor, unknown: Tensor) -> Tensor:
        """Minus the mutual information under guessed similarities."""
        return -mutual_information(0.5 - cosine / 2, similar, unknown, self.bins)


def mutual_information(distance: Tensor, similar: Tensor, mask: Tensor, bins: int) -> Tensor:
    """H(D) - H(D given similarity) of each row's pairs, mean over rows that have any.

    Args:
        distance: (n, n) as a share of the code length, in [0, 1].
        similar: (n, n) bool.
        mask: (n, n) bool, which pairs count.
        bins: intervals; there are bins + 1 centres, from 0 to 1.
    """
    # a distance between two centres belongs to both, the nearer the more; that is linear interpolation
    place = (distance * bins).clamp(0, bins)
    lower = place.detach().floor().clamp(max=bins - 1)
    share = place - lower
    at = lower.long()
    alike, other = (mask & similar).to(distance.dtype), (mask & ~similar).to(distance.dtype)
    pairs = (alike + other).sum(1).clamp(min=1)
    information = distance.new_zeros(len(distance))
    histograms = []
    for kind in (alike, other):
        counts = distance.new_zeros(len(distance), bins + 1)
        counts = counts.scatter_add(1, at, kind * (1 - share)).scatter_add(1, at + 1, kind * share)
        histograms.append(counts / pairs[:, None])  # joint probability of kind and distance
        information = information - entropy(histograms[-1]) + entropy(histograms[-1].sum(1, keepdim=True))
    information = information + entropy(histograms[0] + histograms[1])
    return information.sum() / mask.any(dim=1).sum().clamp(min=1)


def entropy(probabilities: Tensor) -> Tensor:
    """(n, k) → (n,) of -sum p log p; an empty bin adds nothing and has no gradient."""
    surprise: Tensor = torch.special.xlogy(probabilities, probabilities.clamp(min=1e-12))
    return -surprise.sum(1)
