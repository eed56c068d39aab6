"""Systems that are a network trained by the one loop: they differ by objective and settings alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.inputs import VectorInputs
from ..errors import UserError
from ..objectives.objective import Objective
from ..settings import Config, Network
from ..training.learning import Task, learn
from ..training.preparation import head_maker
from .system import Encoder, Problem


@dataclass(frozen=True)
class DeepMethod:
    """A system by its objective.

    Attributes:
        name: what it is called.
        objective: makes what is minimised, from the problem and the resolved settings.
        settings: by name, see :class:`pts3h.settings.Config`; the defaults of the project for the others.
        needs_labels: whether pairs alone are not enough.
        uses_unlabelled: whether it looks at the pool.
        network: whose outputs are the codes; the moving average serves supervised systems as well.
    """

    name: str
    objective: Callable[[Problem, Config], Objective]
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_labels: bool = False
    uses_unlabelled: bool = False
    network: Network = "teacher"

    def with_settings(self, **settings: Any) -> "DeepMethod":
        """The same system with other settings, such as ``omega=0.3`` or ``steps=500``."""
        return replace(self, settings={**self.settings, **settings})

    def called(self, name: str, *, network: Network = "teacher", **settings: Any) -> "DeepMethod":
        """A variant with a name of its own."""
        return replace(self.with_settings(**settings), name=name, network=network)

    def fit(self, problem: Problem, *, bits: int, seed: int = 0, show: bool | None = None) -> Encoder:
        """Train the network."""
        if self.needs_labels:
            problem.labels(self.name)
        if not isinstance(problem.inputs, VectorInputs):
            raise UserError(f"{self.name} trains on vectors or cached features here, not on pictures")
        config = Config(bits=bits, seed=seed, **self.settings).resolved(
            images=False, count=len(problem.members), labelled=len(problem.known.labelled)
        )
        network = head_maker(config, problem.inputs.array.shape[-1])
        task = Task(problem.inputs, problem.known, problem.pool, network)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            objective = self.objective(problem, config)
        learned = learn(task, config, objective=objective, name=self.name, show=show)
        chosen = learned.student if self.network == "student" else learned.teacher

        @torch.inference_mode()
        def outputs(inputs: Tensor) -> NDArray[np.float32]:
            return np.asarray(chosen(inputs).numpy(), np.float32)

        return Encoder(outputs, learned.history)
