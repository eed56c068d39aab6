"""What a system and a public implementation of it both get: one split, the same features, held-out items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pts3h.bench.sources import known_labels, split_of
from pts3h.bench.tuning import held_out
from pts3h.codes import Codes, pack
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.images import Positions
from pts3h.data.inputs import VectorInputs
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.splits import Split
from pts3h.data.training_set import TrainingSet
from pts3h.model.networks import load_backbone
from pts3h.settings.used import Used
from pts3h.systems.deep import DeepSystem
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from pts3h.training.preparation import compute_features

OUR_TRIES = ((0.15, 1), (0.35, 1), (0.35, 3))  # of our steps and of our rate

Outputs = NDArray[np.floating]


@dataclass(frozen=True)
class Given:
    """One split.

    Attributes:
        data: all items.
        array: (n, 1 + copies, d) their features, the clean ones first.
        split: held-out items are its queries.
        bits: code length.
    """

    data: Dataset
    array: NDArray[np.floating]
    split: Split
    bits: int

    @classmethod
    def draw(cls, data: Dataset, array: NDArray[np.floating], labels: int, bits: int, seed: int) -> "Given":
        """The split of a seed."""
        return cls(data, array, split_of(data, labels, seed), bits)

    @property
    def task(self) -> Task:
        """The same for a system of ours."""
        pool = np.setdiff1d(self.split.database, self.split.labelled)
        training = TrainingSet(self.data.items, LabelPairs(known_labels(self.data, self.split)), pool)
        return Task(training, self.bits, self.split.seed)

    def used_by(self, system: str) -> Used:
        """How a network of ours looks and trains."""
        used = SYSTEMS.find(system).used(self.task)
        assert used is not None
        return used

    @property
    def used(self) -> Used:
        """What all networks of ours share."""
        return self.used_by("dsh")

    @property
    def inputs(self) -> VectorInputs:
        """Perturbed views of the features, as networks of ours are trained on."""
        return VectorInputs(self.array, members=self.split.database)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.data.labels.max()) + 1

    def clean(self, positions: Positions) -> NDArray[np.float32]:
        """(n, d) unperturbed features."""
        return np.asarray(self.array[positions, 0], np.float32)

    def score(self, outputs: Outputs) -> float:
        """MAP of the held-out items among themselves, by the signs of their outputs (n, bits)."""

        def encode(positions: Positions) -> Codes:
            return pack(np.asarray(outputs, np.float32))

        return held_out(self.data, self.split).score(encode, self.bits)

    def ours(self, system: str, tuned: Mapping[str, Any]) -> float:
        """What a system of ours scores with its defaults, but for what is tuned."""
        encoder = SYSTEMS.find(system).fit(replace(self.task, tuned=tuned))
        return self.score(encoder.outputs(self.data.items.subset(self.split.queries))[0])

    def our_tries(self, system: str) -> list[dict[str, Any]]:
        """What a network of ours is tried with: its defaults first, then as a peer may stop early."""
        if not isinstance(SYSTEMS.find(system), DeepSystem):
            return [{}]
        used = self.used_by(system)
        return [{}] + [
            {"steps": round(part * used.steps), "learning_rate": factor * used.learning_rate}
            for part, factor in OUR_TRIES
        ]


def features_of(data: Dataset, labels: int, bits: int) -> NDArray[np.floating]:
    """(n, 1 + copies, d) of all items: frozen features of pictures, or the vectors themselves."""
    if data.items.images is None:
        return np.asarray(data.items.content)[:, None]
    used = Given.draw(data, np.empty(0), labels, bits, 0).used
    return compute_features(data.items.images, load_backbone(used), used, progress=None).array
