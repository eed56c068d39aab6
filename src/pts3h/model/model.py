"""A trained model: from items to codes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ..codes import Codes, Layout, pack
from ..data.inputs import ImageInputs, Inputs, VectorInputs
from ..data.items import Items, ItemsLike, read_items
from ..errors import UserError
from ..nets.backbones.backbone import Backbone
from ..nets.feature_cache import FrozenBackbone
from ..nets.hash_network import HashNetwork
from ..nets.look import Look, TwoParts
from ..settings.asked import Network
from ..settings.used import Used
from ..util.progress import Progress
from .inference import run
from .networks import pick_device

Record = dict[str, float]


@dataclass(frozen=True)
class Encoded:
    """Codes of the items that could be read.

    Attributes:
        ids: of those items, in their order.
        codes: (n, bytes) packed, one row per id.
        skipped: reason by id, for pictures that could not be read.
        kept: positions of the items that have a code.
        layout: what the bits of the codes are.
    """

    ids: list[str]
    codes: Codes
    skipped: dict[str, str]
    kept: NDArray[np.int64]
    layout: Layout

    @property
    def bits(self) -> int:
        """Code length: learned bits and look bits."""
        return self.layout.bits


@dataclass
class Model:
    """Both networks and what they need.

    Attributes:
        used: the settings.
        width: numbers in an input vector: the embeddings', or the backbone's features.
        student: the trained network.
        teacher: its moving average.
        backbone: the frozen image network in front of both; None for vectors and for fine-tuned networks.
        look: makes the look bits, for student and teacher alike; None where there are none.
        summary: what it was trained on, for the card.
        history: one record per step.
        asked: what the user asked for, by setting.
    """

    used: Used
    width: int
    student: HashNetwork
    teacher: HashNetwork
    backbone: Backbone | None
    look: Look | None
    summary: dict[str, Any]
    history: list[Record]
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bits(self) -> int:
        """Code length: learned bits and look bits."""
        return self.layout.bits

    @property
    def layout(self) -> Layout:
        """What the bits of its codes are."""
        return self.used.layout

    @cached_property
    def fingerprint(self) -> str:
        """A short name of everything that shapes the codes; an index made with another is refused."""
        used = self.used
        shaping = [used.bits, used.image_size, used.backbone]
        if used.code_size != used.image_size or used.mirror:
            shaping += [used.code_size, used.mirror]
        digest = hashlib.sha256(" ".join(map(str, shaping)).encode())
        for name, tensor in sorted(self.tensors().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def tensors(self) -> dict[str, Tensor]:
        """All weights by name."""
        return {
            f"{part}.{name}": tensor
            for part, network in self.parts().items()
            for name, tensor in network.state_dict().items()
        }

    def parts(self) -> dict[str, nn.Module]:
        """The networks by the names that their weights are stored under."""
        parts = {
            "student": self.student,
            "teacher": self.teacher,
            "backbone": self.backbone,
            "look": self.look,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def outputs(
        self, items: ItemsLike, *, network: Network = "teacher", progress: Progress = None
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        """(n, bits) real outputs of the learned part, and the reason by position for unreadable pictures."""
        return self._run(self._network(network), read_items(items), progress)

    def encode(
        self,
        items: ItemsLike,
        *,
        network: Network = "teacher",
        keep: bool = True,
        progress: Progress = None,
    ) -> Encoded:
        """Packed codes of the items that can be read, and the reasons for the others.

        Args:
            items: what to encode.
            network: "teacher", or "student" for variant S.
            keep: keep the features of new pictures on disk. Off for those that will not be seen again.
            progress: show bars; None asks whether standard error is a terminal.
        """
        items, learned = read_items(items), self._network(network)
        both = learned if self.look is None else TwoParts(learned, self.look)
        outputs, broken = self._run(both, items, progress, keep=keep)
        kept = np.setdiff1d(np.arange(len(items)), list(broken))
        codes = pack(outputs[kept])
        skipped = {items.ids[position]: reason for position, reason in broken.items()}
        return Encoded([items.ids[position] for position in kept], codes, skipped, kept, self.layout)

    def _network(self, name: Network) -> HashNetwork:
        if name not in ("teacher", "student"):
            raise UserError(f"network must be 'teacher' or 'student', got {name!r}")
        return self.teacher if name == "teacher" else self.student

    def _run(
        self, network: HashNetwork | TwoParts, items: Items, progress: Progress, *, keep: bool = True
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        network = network.to(pick_device(self.used.device))
        inputs = self._inputs(items, progress, keep=keep)
        # frozen features show their own bar; what is above them takes a moment
        shown = progress if self.used.fine_tunes else False
        mirror = self.used.mirror and self.used.fine_tunes  # frozen features know the mirror image already
        outputs = run(network, inputs, np.arange(len(items)), mirror=mirror, progress=shown)
        return outputs, dict(sorted(inputs.broken.items()))

    def _inputs(self, items: Items, progress: Progress, *, keep: bool) -> Inputs:
        images = items.images
        if images is None:
            return VectorInputs(self._vectors(items))
        if not self.used.takes_pictures:
            raise UserError(
                f"this model encodes vectors of {self.width} numbers, and these items are pictures"
            )
        if self._frozen is None:
            return ImageInputs(images, self.used.code_size)
        features = self._frozen.clean(
            images, size=self.used.image_size, mirror=self.used.mirror, keep=keep, progress=progress
        )
        return VectorInputs(features.array, broken=features.broken)

    @cached_property
    def _frozen(self) -> FrozenBackbone | None:
        """The frozen backbone, folded for speed once."""
        return None if self.backbone is None else FrozenBackbone(self.backbone, name=self.used.backbone)

    def _vectors(self, items: Items) -> NDArray[np.floating]:
        if self.used.takes_pictures:
            raise UserError("this model encodes pictures, and these items are vectors")
        vectors = np.asarray(items.content)
        if vectors.shape[1] != self.width:
            raise UserError(
                f"this model encodes vectors of {self.width} numbers, these have {vectors.shape[1]}"
            )
        return vectors
