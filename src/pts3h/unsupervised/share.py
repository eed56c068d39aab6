"""The share of alike pairs among all pairs, from a few that a user marked.

People who look for pairs mark about as many alike as not, whatever the truth. How similar the marked pairs
are tells alike from not alike; the share among random pairs follows by expectation-maximisation (Saerens et
al. 2002). People who are shown pairs that look alike, such as the hits of a search, mark what they see: then
the similarity that cuts off as many marked pairs as are alike cuts off the share among random ones.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

USUAL = 0.1  # what is assumed where nothing is known
DOUBT = 40  # pairs that the usual share counts for
LEAST, MOST = 0.005, 0.5
CHOSEN = 0.5  # deviations by which pairs that are not alike are more similar than by chance
ROUNDS = 100
RIDGE = 1e-3


def alike_share(known: Floats, similar: NDArray[np.bool_], chance: Floats) -> float:
    """The share of alike pairs among random ones.

    Args:
        known: (m,) similarities of the known pairs.
        similar: (m,) which of them are alike.
        chance: (r,) similarities of random pairs.
    """
    alike, other = int(similar.sum()), int((~similar).sum())
    if not alike or not other:
        return USUAL
    if chosen_by_similarity(known[~similar], chance):
        share = float(np.mean(chance >= np.quantile(known, 1 - similar.mean())))
    else:
        share = share_behind(np.exp(likelihood_ratio(known, similar, chance)))
    share = min(max(share, LEAST), MOST)
    pairs = 2 * min(alike, other)
    weight = pairs / (pairs + DOUBT)
    return from_odds(weight * log_odds(share) + (1 - weight) * log_odds(USUAL))


def chosen_by_similarity(other: Floats, chance: Floats) -> bool:
    """Whether marked pairs were chosen because they look alike: even those that are not are similar."""
    beyond = float(other.mean() - chance.mean())
    return bool(beyond > chance.std() * (CHOSEN + 2 / np.sqrt(len(other))))


def share_behind(odds: Floats) -> float:
    """The share that explains random pairs, by how much likelier each is alike."""
    share = USUAL
    for _ in range(ROUNDS):
        share = float(np.mean(share * odds / (share * odds + 1 - share)))
    return share


def likelihood_ratio(known: Floats, similar: NDArray[np.bool_], asked: Floats) -> Floats:
    """(r,) log of how much likelier a similarity is among alike pairs, by logistic regression."""
    center, spread = known.mean(), max(float(known.std()), 1e-6)
    inputs = np.stack([np.ones(len(known)), (known - center) / spread], axis=1)
    # both kinds weigh the same, so that the regression's odds are the ratio of likelihoods
    weights = np.where(similar, 0.5 / similar.mean(), 0.5 / (~similar).mean()) / len(known)
    beta = np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ beta))
        gradient = inputs.T @ (weights * (chance - similar)) + RIDGE * beta
        curvature = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs + RIDGE * np.eye(2)
        beta -= np.linalg.solve(curvature, gradient)
    return np.asarray(beta[0] + beta[1] * (asked - center) / spread)


def log_odds(share: float) -> float:
    """log of share : rest."""
    return float(np.log(share / (1 - share)))


def from_odds(odds: float) -> float:
    """The share of these log odds."""
    return float(1 / (1 + np.exp(-odds)))
