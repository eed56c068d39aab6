"""Choosing hyper-parameters on labelled items held out of training; queries are never looked at."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from ..codes import pack
from ..data.images import Positions
from ..data.known_pairs import KnownPairs, LabelPairs, PairList
from ..errors import UserError
from ..evaluation import evaluate
from ..settings import Config
from ..util import progress
from .learning import Learned, Task, learn
from .loop import CollapseWarning, Diverged

GRID: dict[str, Sequence[float]] = {"omega": (0.3, 0.6, 1.0), "gamma": (0.5, 1.0)}
TUNABLE = ("omega", "gamma", "eta", "learning_rate", "alpha", "similar_share")


@dataclass(frozen=True)
class Trial:
    """One combination and how it did on the held-out items."""

    settings: dict[str, float]
    score: float


def select(
    task: Task, config: Config, grid: Mapping[str, Sequence[float]], *, share: float, show: bool | None = None
) -> tuple[Config, list[Trial]]:
    """Train every combination of ``grid`` without the held-out items, and return the best settings.

    With labels a share of the labelled items is held out and the score is their MAP over the other labelled
    items. With a pair list a share of the pairs is held out, and the score is how well distances rank them
    (average precision of the similar ones).

    Args:
        task: what is learned from.
        config: resolved settings.
        grid: values to try by name of the setting.
        share: of the labelled items (or pairs) to hold out.
        show: whether to draw a progress bar.
    """
    check_grid(grid, share)
    training, score = hold_out(task.known, share, config.seed)
    held_task = replace(task, known=training)
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    trials = []
    with progress.bar("choosing settings", len(combinations), unit="runs", show=show) as advance:
        for settings in combinations:
            trials.append(Trial(settings, attempt(held_task, config.with_settings(settings), score)))
            advance(1)
    best = max(trials, key=lambda trial: trial.score)
    return config.with_settings(best.settings), trials


def attempt(task: Task, config: Config, score: "HeldOutLabels | HeldOutPairs") -> float:
    """How settings do; those that diverge or collapse lose by their score, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        try:
            return score(learn(task, config, show=False), task)
        except Diverged:
            return 0.0


def check_grid(grid: Mapping[str, Sequence[float]], share: float) -> None:
    """Refuse what cannot be tried."""
    if not 0 < share < 1:
        raise UserError(
            f"validation is the share of labelled items to hold out, between 0 and 1, got {share}"
        )
    for name, values in grid.items():
        if name not in TUNABLE:
            raise UserError(f"the grid can vary {', '.join(TUNABLE)}, not {name!r}")
        if not len(values):
            raise UserError(f"the grid has no values for {name}")


class HeldOutLabels:
    """Score by the MAP of held-out labelled items over the other labelled ones."""

    def __init__(self, known: LabelPairs, queries: Positions, database: Positions) -> None:
        self.known, self.queries, self.database = known, queries, database

    def __call__(self, learned: Learned, task: Task) -> float:
        """Mean average precision."""
        queries, database = (teacher_codes(learned, task, part) for part in (self.queries, self.database))
        labels = self.known.labels[self.queries], self.known.labels[self.database]
        return evaluate(queries, database, labels=labels, bits=learned.teacher.hash.out_features).map


class HeldOutPairs:
    """Score by the average precision with which distances rank held-out pairs."""

    def __init__(self, pairs: PairList) -> None:
        self.pairs = pairs

    def __call__(self, learned: Learned, task: Task) -> float:
        """Average precision of the similar pairs, nearest first."""
        bits = learned.teacher.hash.out_features
        a, b = (teacher_codes(learned, task, ends) for ends in self.pairs.pairs.T)
        # the XOR of two codes is as far from the zero code as the two are from each other
        return evaluate(np.zeros_like(a[:1]), a ^ b, self.pairs.similar[None], bits=bits).map


def hold_out(known: KnownPairs, share: float, seed: int) -> tuple[KnownPairs, HeldOutLabels | HeldOutPairs]:
    """What is left to train on, and how to score on the rest."""
    rng = default_rng((seed, 11))
    if isinstance(known, PairList):
        held = np.zeros(len(known.pairs), bool)
        for kind in (True, False):  # both kinds must be on both sides
            members = rng.permutation(np.flatnonzero(known.similar == kind))
            held[members[: max(round(share * len(members)), 1)]] = True
        return known.keep(~held), HeldOutPairs(known.keep(held))
    assert isinstance(known, LabelPairs)
    labelled = rng.permutation(known.labelled)
    queries = np.sort(labelled[: max(round(share * len(labelled)), 1)])
    database = np.setdiff1d(labelled, queries)
    return known.hide(queries), HeldOutLabels(known, queries, database)


def teacher_codes(learned: Learned, task: Task, positions: Positions) -> np.ndarray:
    """Packed codes of the unperturbed items."""
    import torch

    batches = []
    with torch.inference_mode():
        for start in range(0, len(positions), 256):
            batches.append(learned.teacher(task.inputs.clean(positions[start : start + 256])).numpy())
    return pack(np.concatenate(batches))
