"""The one shape of every system that is compared: a training set in, an encoder of items out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.items import Items
from ..data.training_set import TrainingSet
from ..errors import UserError
from ..settings.rules import nothing_to_do
from ..settings.used import Used
from ..util.progress import Progress

if TYPE_CHECKING:
    from ..model.model import Model

Kind = Literal["semi-supervised", "supervised", "unsupervised"]
Outputs = tuple[NDArray[np.float32], dict[int, str]]


@dataclass(frozen=True)
class Encoder:
    """What came out of a fit.

    Attributes:
        outputs: items → (n, bits) numbers whose signs are the codes, and the reason by position for pictures
            that cannot be read.
        history: a record of named figures for each step or round of the fit, where it has any.
        model: what can be saved as a model folder, if it is one.
    """

    outputs: Callable[[Items], Outputs]
    history: list[dict[str, float]] = field(default_factory=list)
    model: "Model | None" = None


@dataclass(frozen=True)
class Task:
    """One fit of a system.

    Attributes:
        training: what to learn from; queries are among its items, but nowhere else.
        bits: code length.
        seed: of everything random.
        settings: what was asked for, by name; see :class:`pts3h.settings.asked.Settings`.
        shared: those of the settings that were asked for on behalf of several systems: where one cannot act,
            it is set aside.
        tuned: what tuning chose for this system, by name; what was asked for stands above it.
        folder: for checkpoints and the model of a network that is trained for hours; None keeps nothing.
        progress: whether to show a bar.
    """

    training: TrainingSet
    bits: int
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    tuned: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    progress: Progress = False


@dataclass(frozen=True, kw_only=True)
class System(ABC):
    """A system: one row of the table.

    Attributes:
        name: what tables and the command line call it, in lower case: ``pts3h-dsh``, ``itq``.
        label: what tables print.
        kind: which part of the paper's table it is in.
        base: the supervised system that it extends, if any: significance is tested against it.
        needs_labels: whether pairs alone are not enough.
    """

    name: str
    label: str
    kind: Kind
    base: str | None = None
    needs_labels: bool = False

    @abstractmethod
    def fit(self, task: Task) -> Encoder:
        """Learn codes; the same task gives the same codes on the same machine."""

    def refuse_pairs(self, task: Task) -> None:
        """Raise where only pairs are known and they are not enough, before anything is computed."""
        if self.needs_labels and task.training.known.labels is None:
            raise UserError(f"{self.name} learns from labels, and only pairs are known here: give labels")

    def used(self, task: Task) -> Used | None:
        """The settings with every choice made; None for a system that has none."""
        return None

    def idle(self, task: Task) -> dict[str, str]:
        """Why a setting that the task asks for cannot act in this system, by name."""
        return {}

    def refuse_idle(self, task: Task) -> None:
        """Raise for a setting that cannot act, unless it was asked for on behalf of several systems."""
        for name, why in self.idle(task).items():
            if name not in task.shared:
                raise UserError(nothing_to_do(name, task.settings[name], why))

    def choices(self, task: Task) -> dict[str, tuple[float, ...]]:
        """Values that tuning may try, by name, the usual one first; none where there is nothing to tune."""
        return {}

    def made_of(self) -> tuple[str, ...]:
        """Modules that it is made of, beside what every system shares; what they import belongs to it too."""
        return (type(self).__module__,)

    def written(self) -> tuple[str, ...]:
        """What its row says that shapes a figure."""
        return ()

    def record(self, task: Task) -> dict[str, Any]:
        """The settings that acted, for those who want to know how a figure came about."""
        used = self.used(task)
        return {} if used is None else used.to_json()
