"""Systems that learn from plain vectors, without a network: embeddings, or frozen features of pictures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codes import check_bits
from ...data.items import Items
from ...errors import UserError
from ...settings.asked import Settings
from ...settings.resolve import resolve
from ...settings.rules import OF_PICTURES
from ...settings.used import Used
from ...util.table import load, module_of
from ..system import Encoder, Outputs, System, Task
from .known import Known

Floats = NDArray[np.floating]
Coder = Callable[[Floats], NDArray[np.float32]]

CHUNK = 512
# what says how features of pictures are computed; a shallow system has no other settings
FEATURES = (*OF_PICTURES, "device")


@dataclass(frozen=True, kw_only=True)
class ShallowSystem(System):
    """A system on unperturbed vectors.

    Attributes:
        learn: (:class:`~pts3h.systems.shallow.known.Known`, bits, seed) → (n, d) vectors → (n, bits) numbers;
            a callable, or "package.module:name".
        options: values of further arguments of ``learn`` that tuning may try, by name, its default first.
    """

    learn: str | Callable[..., Coder]
    options: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def used(self, task: Task) -> Used:
        """How the features of pictures are computed."""
        self.refuse_idle(task)
        asked = {name: value for name, value in task.settings.items() if name in FEATURES}
        settings = Settings.from_keywords({**asked, "bits": task.bits, "look_bits": 0, "freeze": True})
        return resolve(settings, task.training, shared={*FEATURES, "freeze"})

    def idle(self, task: Task) -> dict[str, str]:
        """Only features have settings, and vectors are what they are."""
        others = {name: f"{self.name} has no such setting" for name in task.settings if name not in FEATURES}
        if task.training.items.images is not None:
            return others
        features = [name for name in task.settings if name in FEATURES]
        return others | dict.fromkeys(features, "it is for pictures, and these items are vectors")

    def record(self, task: Task) -> dict[str, Any]:
        """How the features were computed."""
        used = self.used(task)
        features = {name: getattr(used, name) for name in FEATURES} if used.takes_pictures else {}
        if used.code_size == used.image_size:  # earlier records do not name it
            features.pop("code_size", None)
        return {**features, **{name: values[0] for name, values in self.options.items()}, **task.tuned}

    def made_of(self) -> tuple[str, ...]:
        """What learns."""
        return (*super().made_of(), module_of(self.learn))

    def choices(self, task: Task) -> dict[str, tuple[float, ...]]:
        """Its options."""
        return dict(self.options)

    def fit(self, task: Task) -> Encoder:
        """Learn from the vectors of all items that take part, and from the known pairs."""
        from .features import Features

        self.refuse_pairs(task)
        features = Features(self.used(task), task.progress)
        vectors = features.training(task.training)
        known = Known(vectors, task.training)
        try:
            coder: Coder = load(self.learn)(known, check_bits(task.bits), task.seed, **task.tuned)
        except ImportError as error:
            raise UserError(f"{self.name} needs {error.name}: pip install 'pts3h[bench]'") from error

        def outputs(items: Items) -> Outputs:
            rows, broken = features.clean(items)
            parts = [coder(np.asarray(rows[at : at + CHUNK])) for at in range(0, len(rows), CHUNK)]
            return np.concatenate(parts), broken

        return Encoder(outputs)
