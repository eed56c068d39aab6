"""Is a model better than none? What is kept back judges it, beside codes that need no training."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from ..codes import pack, sign
from ..data.images import Positions
from ..data.problem import Problem
from ..model.inference import run
from ..nets.hash_network import HashNetwork
from ..nets.look import TwoParts
from ..settings.used import Used
from ..unsupervised.itq import learn_itq

SHARE = 0.1  # of the known pairs, or of the items
LEAST = 5  # pairs of either kind that can judge
MOST_PAIRS = 2_000
MOST_ITEMS = 10_000  # that untrained codes are made from
UNSEEN = 1_000  # items whose neighbours judge, where pairs are too few
NEAR = 5
COUNTED = 5_000  # items whose codes are counted

Judge = Literal["pairs", "neighbours"]
Kept = tuple[Problem, Positions, NDArray[np.bool_]]  # what is left to learn from, and pairs to judge by
NOTHING = np.empty((0, 2), np.int64), np.empty(0, bool)


@dataclass(frozen=True)
class Check:
    """What was found on what was kept back.

    Attributes:
        by: what judged: known pairs, or neighbours that training had not seen.
        pairs: how many.
        trained: in how many cases an alike pair is nearer than another, by codes of the trained network.
        untrained: the same, by ITQ codes of as many bits of the same features.
        error: how far the two may be apart by chance.
    """

    by: Judge
    pairs: int
    trained: float
    untrained: float
    error: float

    @property
    def kept(self) -> Literal["trained", "untrained"]:
        """Training stands, unless it is worse beyond chance."""
        return "untrained" if self.trained < self.untrained - self.error else "trained"

    def summary(self) -> dict[str, Any]:
        """For the model's card and page."""
        values = asdict(self)
        rounded = {name: round(values[name], 4) for name in ("trained", "untrained", "error")}
        return {**values, **rounded, "kept": self.kept}


def check_training(problem: Problem, used: Used, learn: Callable[[Problem], HashNetwork]) -> Check | None:
    """Train without a part, and see how both networks do on it; None where nothing can be kept back."""
    rng = default_rng((used.seed, 19))
    by: Judge = "pairs"
    part, pairs, similar = keep_pairs_back(problem, rng)
    if not enough(similar):
        by = "neighbours"
        part, pairs, similar = keep_items_back(problem, rng)
    if not enough(similar):
        return None
    trained, untrained = (
        told_apart(network, problem, pairs, similar)
        for network in (learn(part), untrained_network(part, used))
    )
    return Check(by, len(pairs), trained, untrained, chance_error(similar))


def keep_pairs_back(problem: Problem, rng: Generator) -> Kept:
    """A tenth of what is known."""
    known = problem.known
    if known.units < 10 * LEAST or not known.both_kinds:
        return problem, *NOTHING
    part, held = known.hold_out(SHARE, rng)
    return replace(problem, known=part), *held.pairs_among(MOST_PAIRS, rng)


def keep_items_back(problem: Problem, rng: Generator) -> Kept:
    """Items that take no part: those near each other along the graph, and pairs by chance."""
    unseen = np.sort(rng.permutation(problem.pool)[: min(UNSEEN, round(SHARE * len(problem.pool)))])
    if problem.neighbourhood is None or len(unseen) < 4 * NEAR:
        return problem, *NOTHING
    near = problem.neighbourhood.nearest_pairs(unseen, NEAR)
    chance = rng.choice(unseen, (len(near), 2))
    pairs = np.concatenate([near, chance[chance[:, 0] != chance[:, 1]]])
    part = replace(problem, pool=np.setdiff1d(problem.pool, unseen))
    return part, pairs, np.arange(len(pairs)) < len(near)


def enough(similar: NDArray[np.bool_]) -> bool:
    """Whether there are some of either kind."""
    return bool(min(similar.sum(), (~similar).sum()) >= LEAST)


def told_apart(network: HashNetwork, problem: Problem, pairs: Positions, similar: NDArray[np.bool_]) -> float:
    """How often an alike pair is nearer than another; equally near counts half (the area under the ROC)."""
    first, second = (sign(run(network, problem.inputs, ends, progress=False)) for ends in pairs.T)
    closeness = (first.astype(np.int32) * second).sum(axis=1)
    alike, other = closeness[similar], closeness[~similar]
    return float(((alike[:, None] > other) + 0.5 * (alike[:, None] == other)).mean())


def chance_error(similar: NDArray[np.bool_]) -> float:
    """Two standard errors of such a share when there is nothing to tell (Hanley and McNeil 1982)."""
    alike, other = int(similar.sum()), int((~similar).sum())
    return float(2 * np.sqrt((alike + other + 1) / (12 * alike * other)))


def untrained_network(problem: Problem, used: Used) -> HashNetwork:
    """ITQ as a network without a hidden layer; random directions beyond the number of features."""
    members = problem.members
    sample = members[:: max(len(members) // MOST_ITEMS, 1)]
    rows = problem.inputs.rows(sample)
    coder = learn_itq(rows, min(used.bits, rows.shape[1]), used.seed)
    more = default_rng((used.seed, 23)).standard_normal((rows.shape[1], max(used.bits - rows.shape[1], 0)))
    network = HashNetwork(used.bits, inputs=rows.shape[1], hidden=0, dropout=0.0)
    with torch.no_grad():
        network.center.copy_(torch.from_numpy(coder.center))
        network.hash.weight.copy_(torch.from_numpy(np.concatenate([coder.projection, more], axis=1).T))
        network.hash.bias.zero_()
    return network.eval()


def crowding(network: HashNetwork | TwoParts, problem: Problem) -> dict[str, int]:
    """How many different codes some of the items have, and how many items share the commonest."""
    members = problem.members
    sample = members[:: max(-(-len(members) // COUNTED), 1)]
    codes = pack(run(network, problem.inputs, sample, progress=False))
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return {"items": len(codes), "distinct": len(counts), "largest": int(counts.max())}
