"""Vectors of items: the embeddings themselves, or frozen features of pictures."""

import numpy as np
from numpy.typing import NDArray

from ...data.items import Items
from ...data.training_set import TrainingSet
from ...errors import UserError
from ...model.networks import load_backbone
from ...nets.feature_cache import FrozenBackbone
from ...settings.used import Used
from ...training.preparation import image_views
from ...util.progress import Progress


class Features:
    """Turns items into vectors, always by the same backbone.

    Args:
        used: says which backbone, and how large pictures are.
        progress: whether to show a bar.
    """

    def __init__(self, used: Used, progress: Progress) -> None:
        self.used, self.progress = used, progress
        self.frozen = FrozenBackbone(load_backbone(used), name=used.backbone) if used.takes_pictures else None

    def training(self, training: TrainingSet) -> NDArray[np.floating]:
        """(n, d) of all items, from the same cache that networks on frozen features are trained from."""
        images, used = training.items.images, self.used
        if images is None or self.frozen is None:
            return np.asarray(training.items.content)
        features = self.frozen.cached(
            images,
            size=used.code_size,
            mirror=used.mirror,
            copies=used.views,
            copy_size=used.image_size,
            views=image_views(used),
            progress=self.progress,
        )
        if features.broken:
            reason = features.broken[min(features.broken)]
            raise UserError(f"{len(features.broken)} pictures cannot be read; the first: {reason}")
        return features.array[:, 0]

    def clean(self, items: Items) -> tuple[NDArray[np.floating], dict[int, str]]:
        """(n, d), and the reason by position for pictures that cannot be read."""
        if items.images is None or self.frozen is None:
            return np.asarray(items.content), {}
        features = self.frozen.clean(
            items.images,
            size=self.used.code_size,
            mirror=self.used.mirror,
            progress=self.progress,
        )
        return features.array[:, 0], features.broken
