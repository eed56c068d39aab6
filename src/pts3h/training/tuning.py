"""Choosing settings on knowledge held out of training; queries are never looked at."""

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from numpy.random import default_rng

from ..codes import Codes, pack
from ..data.held_out import HeldOut
from ..data.images import Positions
from ..data.problem import Problem
from ..errors import CollapseWarning, Diverged, UserError
from ..model.inference import run
from ..settings.used import Used
from ..util.progress import Progress, bar
from .learning import Learned

GRID: dict[str, Sequence[float]] = {"omega": (0.3, 0.6, 1.0), "gamma": (0.5, 1.0)}
TUNABLE = ("omega", "gamma", "eta", "learning_rate", "alpha", "similar_share")
# what a head on frozen features is trained with says nothing about fine-tuning, which has its own optimiser
ONLY_FOR_HEADS = ("learning_rate", "alpha")
SHARE = 0.1

Learn = Callable[[Problem, Used], Learned]


@dataclass(frozen=True)
class Trial:
    """One combination, and how it did on what was held out."""

    settings: dict[str, float]
    score: float


@dataclass(frozen=True)
class Tuning:
    """What to choose settings by.

    Attributes:
        share: of the labelled items (or pairs) to hold out.
        grid: values to try by setting.
    """

    share: float = SHARE
    grid: Mapping[str, Sequence[float]] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise UserError(
                f"validation is the share of labelled items to hold out, between 0 and 1, got {self.share}"
            )
        for name, values in self.values.items():
            if name not in TUNABLE:
                raise UserError(f"the grid can vary {', '.join(TUNABLE)}, not {name!r}")
            if not len(values):
                raise UserError(f"the grid has no values for {name}")

    @classmethod
    def asked(cls, share: float | None, grid: Mapping[str, Sequence[float]] | None) -> "Tuning | None":
        """What a user wants chosen; nothing, if neither is given."""
        if share is None and grid is None:
            return None
        return cls(SHARE if share is None else share, grid)

    @property
    def values(self) -> Mapping[str, Sequence[float]]:
        """What is tried, by setting."""
        return GRID if self.grid is None else self.grid

    def check(self, used: Used) -> None:
        """Refuse to choose what could not be used afterwards."""
        unlabelled, pseudo = used.learns_from_unlabelled, used.makes_pseudo_pairs
        for name, acts in {"omega": unlabelled, "gamma": unlabelled, "similar_share": pseudo}.items():
            if name in self.values and not acts:  # batches are made for what the settings say
                raise UserError(
                    f"the grid varies {name}, and the settings turn off what it weighs: "
                    "leave out omega, gamma and consistency, or vary something else"
                )
        if used.fine_tunes and used.warm_start:
            for name in self.values:
                if name in ONLY_FOR_HEADS:
                    raise UserError(
                        f"the grid would choose {name} on a frozen head, which fine-tuning does not use: "
                        "leave it out, or choose on whole runs with warm_start=False"
                    )

    def select(
        self, problem: Problem, used: Used, learn: Learn, *, progress: Progress = None
    ) -> tuple[dict[str, float], list[Trial]]:
        """Train every combination without what is held out; the best settings, and all trials.

        Args:
            problem: what is learned from.
            used: the settings that the grid varies.
            learn: trains on a problem.
            progress: whether to show a bar.
        """
        known, held = problem.known.hold_out(self.share, default_rng((used.seed, 11)))
        part = replace(problem, known=known)
        grid = self.values
        combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
        trials = []
        with bar("choosing settings", len(combinations), unit="runs", progress=progress) as advance:
            for settings in combinations:
                trials.append(Trial(settings, attempt(part, used.but(settings), learn, held)))
                advance(1)
        return max(trials, key=lambda trial: trial.score).settings, trials


def attempt(problem: Problem, used: Used, learn: Learn, held: HeldOut) -> float:
    """How settings do; those that diverge or collapse lose by their score, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        try:
            learned = learn(problem, used)
        except Diverged:
            return 0.0

    def encode(positions: Positions) -> Codes:
        return pack(run(learned.teacher, problem.inputs, positions, progress=False))

    return held.score(encode, used.bits)
