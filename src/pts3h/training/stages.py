"""The stages of a fit: embeddings, frozen features, or frozen features and then the whole network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.images import Images
from ..data.items import Items
from ..data.known_pairs import KnownPairs, PairList
from ..model.model import Model
from ..nets import Backbone
from ..settings import Config
from .checkpoint import stored_settings
from .learning import Learned, Task, learn
from .loop import Watcher
from .preparation import (
    compute_features,
    find_broken,
    head_task,
    load_backbone,
    unlabelled_pool,
    whole_task,
    without_broken,
)
from .tuning import GRID, Trial, select


@dataclass(frozen=True)
class Validation:
    """What to choose settings by.

    Attributes:
        share: of the labelled items to hold out; None for a tenth, if there is a grid at all.
        grid: values to try by setting; None for the usual ones, if there is a share at all.
    """

    share: float | None
    grid: Mapping[str, Sequence[float]] | None

    @property
    def wanted(self) -> bool:
        """Whether anything is to be chosen."""
        return self.share is not None or self.grid is not None


@dataclass
class Fitting:
    """One fit on its way: settings and data in, a model out.

    Attributes:
        config: settings, resolved for these items.
        items: all items.
        known: what is known of their pairs.
        unlabelled: positions the user chose as unlabelled; None for all others.
        folder: for checkpoint and history.
        resume: go on from the folder's checkpoint.
        validation: what to choose settings by.
        show: whether to draw progress bars.
        watch: called with each step's record.
        broken: reason by position for pictures that cannot be read.
        trials: what validation tried.
    """

    config: Config
    items: Items
    known: KnownPairs
    unlabelled: ArrayLike | None
    folder: Path | None
    resume: bool
    validation: Validation
    show: bool | None
    watch: Watcher | None = None
    broken: dict[int, str] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)

    def model(self) -> Model:
        """Train, and return the model."""
        content = self.items.content
        backbone = None
        if isinstance(content, np.ndarray):
            task = self._task(partial(head_task, content))
            learned = self._learn(self._choose(task, self.config), task)
        else:
            backbone = load_backbone(self.config)
            learn_images = self._learn_frozen if self.config.freeze else self._learn_whole
            learned = learn_images(content, backbone)
        return Model(
            self.config,
            learned.student.center.numel(),
            learned.student,
            learned.teacher,
            backbone if self.config.freeze else None,
            self._summary(),
            learned.history,
        )

    def _learn_frozen(self, images: Images, backbone: Backbone) -> Learned:
        task = self._frozen_task(images, backbone)
        return self._learn(self._choose(task, self.config), task)

    def _learn_whole(self, images: Images, backbone: Backbone) -> Learned:
        """Fine-tune; by default from a head trained on frozen features: it costs seconds and saves hours."""
        start = None
        if self.config.warm_start and not self.resume:
            task = self._frozen_task(images, backbone)
            chosen = self._choose(task, self.config.for_frozen_head())
            self.config = replace(self.config, omega=chosen.omega, gamma=chosen.gamma, eta=chosen.eta)
            start = learn(task, chosen, name="head", show=self.show).teacher
        else:
            self._set_aside(find_broken(images, self.config.image_size or 0))
        task = self._task(partial(whole_task, images, backbone))
        if start is None:
            self.config = self._choose(task, self.config)
        return self._learn(self.config, task, start)

    def _frozen_task(self, images: Images, backbone: Backbone) -> Task:
        features = compute_features(images, backbone, self.config, self.show)
        self._set_aside(features.broken)
        return self._task(partial(head_task, features.array))

    def _set_aside(self, broken: dict[int, str]) -> None:
        self.known = without_broken(self.known, broken, len(self.items))
        self.broken = broken

    def _task(self, make: Any) -> Task:
        broken = np.array(sorted(self.broken), np.int64)
        pool = unlabelled_pool(len(self.items), self.known, self.unlabelled, broken)
        task: Task = make(self.known, pool, self.config)
        return task

    def _choose(self, task: Task, config: Config) -> Config:
        """The settings, tuned on held-out labelled items where that is wanted."""
        if not self.validation.wanted:
            return config
        grid = self.validation.grid or GRID
        if self.resume and self.folder is not None:  # they were chosen before the run that is resumed
            stored = stored_settings(self.folder)
            return config.with_settings({name: stored[name] for name in grid})
        share = 0.1 if self.validation.share is None else self.validation.share
        chosen, self.trials = select(task, config, grid, share=share, show=self.show)
        return chosen

    def _learn(self, config: Config, task: Task, start: Any = None) -> Learned:
        self.config = config
        return learn(
            task,
            config,
            folder=self.folder,
            resume=self.resume,
            start=start,
            watch=self.watch,
            show=self.show,
        )

    def _summary(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"items": len(self.items), "labelled_items": len(self.known.labelled)}
        if isinstance(self.known, PairList):
            facts["known_pairs"] = len(self.known.pairs)
        facts["similar_share"] = round(self.known.similar_share, 4)
        if self.broken:
            facts["skipped"] = len(self.broken)
        if self.trials:
            best = max(self.trials, key=lambda trial: trial.score)
            facts["validation"] = {"trials": len(self.trials), "score": round(best.score, 4), **best.settings}
        return facts
