"""Trained networks in torch: from items to real outputs."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor, nn

from ..data.inputs import ImageInputs, Inputs, VectorInputs
from ..data.items import Items
from ..nets.backbones.backbone import Backbone
from ..nets.feature_cache import FrozenBackbone
from ..nets.hash_network import HashNetwork
from ..nets.look import Look, TwoParts
from ..settings.asked import Network
from ..settings.used import Used
from ..util.progress import Progress
from .inference import run
from .networks import pick_device
from .runner import Outputs


@dataclass
class Networks:
    """Both networks and what they need.

    Attributes:
        used: the settings.
        student: the trained network.
        teacher: its moving average.
        backbone: the frozen image network in front of both; None for vectors and for fine-tuned networks.
        look: makes the look bits, for student and teacher alike; None where there are none.
    """

    used: Used
    student: HashNetwork
    teacher: HashNetwork
    backbone: Backbone | None
    look: Look | None

    @property
    def networks(self) -> "Networks":
        """Themselves."""
        return self

    @property
    def width(self) -> int:
        """Numbers in an input vector: the embeddings', or the backbone's features."""
        return self.student.center.numel()

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

    def coder(self, network: Network) -> HashNetwork | TwoParts:
        """What makes the whole code: learned bits, and look bits where there are any."""
        learned = self.teacher if network == "teacher" else self.student
        return learned if self.look is None else TwoParts(learned, self.look)

    @cached_property
    def frozen(self) -> FrozenBackbone | None:
        """The frozen backbone, folded for speed once."""
        return None if self.backbone is None else FrozenBackbone(self.backbone, name=self.used.backbone)

    def run(self, items: Items, network: Network, *, keep: bool, progress: Progress) -> Outputs:
        """(n, bits) real outputs, and the reason by position for unreadable pictures."""
        coder = self.coder(network).to(pick_device(self.used.device))
        inputs = self._inputs(items, progress, keep=keep)
        # frozen features show their own bar; what is above them takes a moment
        shown = progress if self.used.fine_tunes else False
        mirror = self.used.mirror and self.used.fine_tunes  # frozen features know the mirror image already
        outputs = run(coder, inputs, np.arange(len(items)), mirror=mirror, progress=shown)
        return outputs, dict(sorted(inputs.broken.items()))

    def _inputs(self, items: Items, progress: Progress, *, keep: bool) -> Inputs:
        images = items.images
        if images is None:
            return VectorInputs(np.asarray(items.content))
        if self.frozen is None:
            return ImageInputs(images, self.used.code_size)
        features = self.frozen.clean(
            images, size=self.used.code_size, mirror=self.used.mirror, keep=keep, progress=progress
        )
        return VectorInputs(features.array, broken=features.broken)
