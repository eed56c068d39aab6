"""What the teacher asks of the student: the same similarities under another view, and its pseudo pairs."""

import math

import numpy as np
from torch import Tensor
from torch.nn import functional as F


def cosines(outputs: Tensor) -> Tensor:
    """(n, bits) → (n, n) cosines. The similarity of the paper, -|F_i/|F_i| - F_j/|F_j||², is 2 cos - 2."""
    unit = F.normalize(outputs, dim=1)
    return unit @ unit.T


def consistent_similarity(cosine: Tensor, teacher_cosine: Tensor) -> Tensor:
    """R_up: mean of (sim - sim_T)² over all ordered pairs of different items.

    Args:
        cosine: (n, n) of the student's outputs, view 1.
        teacher_cosine: (n, n) of the teacher's outputs, view 2; takes no gradient.
    """
    n = len(cosine)
    # a similarity is 2 cos - 2, hence the 4; the diagonal adds nothing, both cosines are 1 there
    return F.mse_loss(cosine, teacher_cosine.detach(), reduction="sum") * (4 / max(n * (n - 1), 1))


def similarity_threshold(teacher_cosine: Tensor, unknown: Tensor, similar_share: float) -> float:
    """The teacher's similarity that the share ``similar_share`` of the unknown pairs reaches.

    It is the (1 - share) quantile, taken at the next value above where it falls between two; the pseudo pairs
    are the same for any value in that gap.

    Args:
        teacher_cosine: (n, n).
        unknown: (n, n) bool, which pairs count; symmetric.
        similar_share: rho, in [0, 1].
    """
    # numpy selects from a few thousand numbers several times as fast as torch does
    values = teacher_cosine.detach().cpu().numpy()[unknown.cpu().numpy()]
    pairs = len(values) // 2  # the matrix holds each pair twice
    if pairs == 0:
        return 0.0
    # the small step back keeps (1 - rho)(pairs - 1) from being pushed over a whole number by rounding
    rank = math.ceil((1 - similar_share) * (pairs - 1) - 1e-9)
    return 2 * float(np.partition(values, 2 * rank)[2 * rank]) - 2
