"""Systems that are a network trained by the one loop: they differ by objective and settings alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..losses.table import LOSSES, Loss
from ..settings.asked import Network, Settings
from ..settings.resolve import idle_settings, resolve
from ..settings.used import Used
from ..util.table import load, module_of
from .ranges import FACTORS, TRAINING, times
from .system import Encoder, System, Task

if TYPE_CHECKING:
    from ..data.problem import Problem
    from ..objectives.objective import Objective

PTS3H_OBJECTIVE = "pts3h.objectives.pts3h:build"
GUIDE = "pts3h.unsupervised.guide"
PAPER = {"neighbours": 0.0}  # the systems are those of the paper, unless a row says otherwise
ONLY_PTS3H = {
    **dict.fromkeys(("neighbours", "fade"), "only PTS3H learns from neighbours"),
    "classes": "only PTS3H learns classes beside its pairs",
}


@dataclass(frozen=True, kw_only=True)
class DeepSystem(System):
    """A network and what it minimises.

    Attributes:
        objective: makes what is minimised from the problem and the settings: a callable, or
            "package.module:name".
        defining: settings that make it this system; nothing stands above them.
        defaults: settings that it trains well with, where nothing else is asked for.
        weights: settings in its loss that tuning may vary, beside rate, steps and batch.
        network: whose outputs are the codes; the moving average serves supervised systems as well.
    """

    objective: "str | Callable[[Problem, Used], Objective]" = PTS3H_OBJECTIVE
    defining: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    weights: Sequence[str] = ()
    network: Network = "teacher"

    @property
    def loss(self) -> Loss:
        """Its pairwise loss."""
        return LOSSES.find(self.defining.get("loss", Settings().loss))

    def settings(self, task: Task) -> Settings:
        """What is asked for: by the user, and by what this system is."""
        asked = {**PAPER, **self.defaults, **task.tuned, **task.settings, **self._fixed(task)}
        return Settings.from_keywords(asked)

    def _fixed(self, task: Task) -> dict[str, Any]:
        """What nobody changes: what this system is, what a run says itself; learned bits are compared."""
        return {**self.defining, "bits": task.bits, "look_bits": 0, "seed": task.seed}

    def used(self, task: Task) -> Used:
        """The settings with every choice made."""
        self.refuse_idle(task)
        settings = self.settings(task)
        return resolve(settings, task.training, shared=settings.asked())

    def idle(self, task: Task) -> dict[str, str]:
        """What defines this system stands, and so does what each run says itself."""
        fixed = self._fixed(task)
        found = {
            name: f"{self.name} always has {name}={fixed[name]!r}"
            for name, value in task.settings.items()
            if name in fixed and value != fixed[name]
        }
        if self.objective != PTS3H_OBJECTIVE:
            found |= {name: why for name, why in ONLY_PTS3H.items() if task.settings.get(name)}
        others = idle_settings(self.settings(task), task.training)
        return found | {name: why for name, why in others.items() if name in task.settings.keys() - fixed}

    def made_of(self) -> tuple[str, ...]:
        """What is minimised, and what teaches."""
        guide = (GUIDE,) if self.objective == PTS3H_OBJECTIVE else ()
        return (*super().made_of(), module_of(self.objective), module_of(self.loss.make), *guide)

    def written(self) -> tuple[str, ...]:
        """Its settings, and those that its loss trains well with."""
        loss = {name: value for name, value in asdict(self.loss).items() if isinstance(value, int | float)}
        settings = {**self.defaults, **self.defining, "loss": self.loss.name}
        return (repr((self.name, self.network, settings, loss)),)

    def choices(self, task: Task) -> dict[str, tuple[float, ...]]:
        """Multiples of what it trains with by default; what was asked for stands."""
        used = self.used(replace(task, tuned={}))
        usual = {name: getattr(used, name) for name in (*TRAINING, *self.weights)}
        free = {name: value for name, value in usual.items() if value and name not in task.settings}
        return {name: times(value, FACTORS[name]) for name, value in free.items()}

    def fit(self, task: Task) -> Encoder:
        """Train the network, or go on with what is in the task's folder."""
        from .training import train_or_load

        self.refuse_pairs(task)
        model = train_or_load(self.name, load(self.objective), self.used(task), task)
        return Encoder(
            lambda items: model.outputs(items, network=self.network, progress=False), model.history, model
        )
