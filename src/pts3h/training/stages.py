"""The stages of a fit: embeddings, frozen features, or frozen features and then the whole network."""

import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..data.images import Images
from ..data.problem import Problem
from ..data.training_set import TrainingSet
from ..errors import CollapseWarning, Interrupted
from ..model.folder import save_model
from ..model.model import Model
from ..model.networks import NetworkMaker, head_maker, load_backbone, whole_again, whole_maker
from ..model.trained import Networks
from ..nets.backbones.backbone import Backbone
from ..nets.backbones.parts import LowerPart
from ..nets.hash_network import HashNetwork
from ..nets.look import TwoParts
from ..objectives.objective import Objective
from ..objectives.pts3h import build as build_pts3h
from ..settings.used import Used
from ..util.memory import return_freed_memory
from ..util.progress import Progress
from .check import Check, check_training, crowding, untrained_network
from .checkpoint import stored_settings
from .learning import Learned, learn
from .look import learn_look
from .loop import Judge, Watcher
from .preparation import (
    compute_features,
    find_broken,
    map_problem,
    picture_problem,
    vector_problem,
    without_broken,
)
from .ranks import Ranks
from .tuning import Trial, Tuning

ObjectiveMaker = Callable[[Problem, Used], Objective]


@dataclass(frozen=True)
class Fitted:
    """What a fit gave.

    Attributes:
        model: the trained model.
        broken: reason by position, for pictures that cannot be read.
        trials: what tuning tried.
    """

    model: Model
    broken: dict[int, str] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)


@dataclass(frozen=True)
class Trainer:
    """How to train, whatever on.

    Attributes:
        objective: makes what is minimised.
        tuning: what to choose settings by; None keeps the settings.
        folder: for checkpoints while training, and for the model afterwards.
        resume: go on from the folder's checkpoint.
        watch: called with each step's record.
        judge: called now and then with the teacher's outputs; what it finds joins the record.
        name: for the progress bar.
        checked: compare with codes that need no training, on what is kept back first, and keep the better.
        progress: whether to show bars.
        asked: what the user asked for, to keep with the model.
        ranks: the processes that share the training, where there are several.
    """

    objective: ObjectiveMaker = build_pts3h
    tuning: Tuning | None = None
    folder: Path | None = None
    resume: bool = False
    watch: Watcher | None = None
    judge: Judge | None = None
    name: str = "training"
    checked: bool = False
    progress: Progress = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    ranks: Ranks | None = None

    def fit(self, training: TrainingSet, used: Used) -> Fitted:
        """Train a model, and save it where there is a folder."""
        if self.tuning is not None:
            self.tuning.check(used)
        images = training.items.images
        if images is None:
            fitted = self._fit_vectors(training, used)
        elif used.freeze:
            fitted = self._fit_frozen(training, images, used)
        else:
            fitted = self._fit_whole(training, images, used)
        if self.folder is not None and (self.ranks is None or self.ranks.first):
            save_model(fitted.model, self.folder, overwrite=True)
        if self.ranks is not None:
            self.ranks.wait()  # until it is written
        return_freed_memory()  # what a fit frees lies scattered: the next one would take more
        return fitted

    def _fit_vectors(self, training: TrainingSet, used: Used) -> Fitted:
        problem = vector_problem(training, np.asarray(training.items.content), used)
        return self._fit_head(training, problem, self._with_share(problem, used), None, {})

    def _fit_frozen(self, training: TrainingSet, images: Images, used: Used) -> Fitted:
        backbone = load_backbone(used)
        training, problem, broken = self._frozen_problem(training, images, backbone, used)
        return self._fit_head(training, problem, self._with_share(problem, used), backbone, broken)

    def _fit_head(
        self,
        training: TrainingSet,
        problem: Problem,
        used: Used,
        backbone: Backbone | None,
        broken: dict[int, str],
    ) -> Fitted:
        make = head_maker(used, width_of(problem))
        check = self._check(problem, used, make)
        if check is not None and check.kept == "untrained":
            network = untrained_network(problem, used)
            used, learned = used.but({"hidden": 0}), Learned(network, deepcopy(network), [])
            return self._fitted(training, problem, used, learned, backbone, broken, [], check)
        used, trials = self._choose(problem, used, make)
        learned = self._learn(problem, used, make, last=True)
        return self._fitted(training, problem, used, learned, backbone, broken, trials, check)

    def _fit_whole(self, training: TrainingSet, images: Images, used: Used) -> Fitted:
        """Fine-tune; by default from a head trained on frozen features: it costs seconds and saves hours."""
        backbone, start, trials, near = load_backbone(used), None, list[Trial](), None
        if used.warm_start:
            training, problem, broken = self._frozen_problem(training, images, backbone, used)
            used, near = self._with_share(problem, used), problem.neighbourhood
        else:
            broken = find_broken(images, used.image_size)
            training = without_broken(training, broken, used)
        if used.warm_start and not self.resume:
            make = head_maker(used, backbone.width)
            head, trials = self._choose(problem, used.for_frozen_head(), make)
            start = self._learn(problem, head, make, name="head").teacher
            used = used.but(best_trial(trials).settings if trials else {})
        pictures = picture_problem(training, images, used, near)
        problem, make = self._learned_part(pictures, images, backbone, used)
        if start is None:
            used, trials = self._choose(problem, used, make)
        learned = self._learn(problem, used, make, start=start, last=True)
        learned = replace(learned, student=whole_again(learned.student), teacher=whole_again(learned.teacher))
        return self._fitted(training, pictures, used, learned, None, broken, trials)

    def _learned_part(
        self, pictures: Problem, images: Images, backbone: Backbone, used: Used
    ) -> tuple[Problem, NetworkMaker]:
        """What is learned from and what learns: whole networks from pictures, or upper parts from maps."""
        if not used.fixed_blocks:
            return pictures, whole_maker(used, backbone)
        lower = LowerPart(backbone, used.fixed_blocks, used.image_size)
        maps = compute_features(images, lower, used, self.progress, self.ranks)
        return map_problem(pictures, maps), whole_maker(used, backbone, lower)

    def _frozen_problem(
        self, training: TrainingSet, images: Images, backbone: Backbone, used: Used
    ) -> tuple[TrainingSet, Problem, dict[int, str]]:
        features = compute_features(images, backbone, used, self.progress, self.ranks)
        training = without_broken(training, features.broken, used)
        return training, vector_problem(training, features.array, used), features.broken

    def _check(self, problem: Problem, used: Used, make: NetworkMaker) -> Check | None:
        """How a network on frozen features does on what it has not seen."""
        if not self.checked:
            return None

        def learn(part: Problem) -> HashNetwork:
            return self._learn(part, used, make, name="checking", progress=self.progress).teacher

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)  # the run that counts will say so
            try:
                check = check_training(problem, used, learn)
                return check if check is None else Check(**self._settled(asdict(check)))
            except Interrupted as error:
                message = "stopped during the check, before the training: run the same command again"
                raise Interrupted(message) from error

    def _with_share(self, problem: Problem, used: Used) -> Used:
        """The settings with the share of alike pairs, where it is left to an estimate."""
        if problem.neighbourhood is None or problem.known.labels is not None or "similar_share" in self.asked:
            return used
        return used.but({"similar_share": self._settled(problem.neighbourhood.similar_share(problem.known))})

    def _settled(self, value: Any) -> Any:
        """What was found by arithmetic and decides how to go on: all ranks take rank 0's."""
        return value if self.ranks is None else self.ranks.first_says(value)

    def _choose(self, problem: Problem, used: Used, make: NetworkMaker) -> tuple[Used, list[Trial]]:
        """The settings, tuned on what is held out where that is wanted."""
        if self.tuning is None:
            return used, []
        if self.resume and self.folder is not None:  # they were chosen before the run that is resumed
            stored = stored_settings(self.folder)
            return used.but({name: stored[name] for name in self.tuning.values}), []
        train = partial(self._learn, make=make, progress=False)
        _, trials = self.tuning.select(problem, used, train, progress=self.progress)
        trials = [Trial(**trial) for trial in self._settled([asdict(trial) for trial in trials])]
        return used.but(best_trial(trials).settings), trials

    def _learn(
        self,
        problem: Problem,
        used: Used,
        make: NetworkMaker,
        *,
        start: HashNetwork | None = None,
        last: bool = False,
        name: str | None = None,
        progress: Progress = None,
    ) -> Learned:
        """One run of the loop; only the last one of a fit is checkpointed and watched."""
        with torch.random.fork_rng():
            torch.manual_seed(used.seed)
            objective = self.objective(problem, used)
        return learn(
            problem,
            used,
            objective,
            make,
            folder=self.folder if last else None,
            resume=self.resume and last,
            start=start,
            watch=self.watch if last else None,
            judge=self.judge if last else None,
            name=name or self.name,
            ranks=self.ranks,
            progress=self.progress if progress is None else progress,
        )

    def _fitted(
        self,
        training: TrainingSet,
        problem: Problem,
        used: Used,
        learned: Learned,
        backbone: Backbone | None,
        broken: dict[int, str],
        trials: list[Trial],
        check: Check | None = None,
    ) -> Fitted:
        """The model with what there is to say of its training."""
        look = learn_look(learned.teacher, problem, used, self.progress)
        summary: dict[str, Any] = {"items": len(training.items), **training.known.summary()}
        if look is not None:
            summary["look_bits"] = used.look_bits
        if broken:
            summary["skipped"] = len(broken)
        if problem.neighbourhood is not None and training.known.labels is None:
            summary["estimated_share"] = round(used.similar_share, 4)
        if self.checked:
            summary["check"] = {} if check is None else check.summary()
            summary["check"] |= crowding(
                learned.teacher if look is None else TwoParts(learned.teacher, look), problem
            )
        if trials:
            best = best_trial(trials)
            summary["validation"] = {"trials": len(trials), "score": round(best.score, 4), **best.settings}
        networks = Networks(used, learned.student, learned.teacher, backbone, look)
        return Fitted(Model(networks, summary, learned.history, self.asked), broken, trials)


def width_of(problem: Problem) -> int:
    """Numbers in an input vector."""
    return int(problem.inputs.clean(problem.known.labelled[:1]).shape[1])


def best_trial(trials: list[Trial]) -> Trial:
    """The trial that did best on what was held out."""
    return max(trials, key=lambda trial: trial.score)
