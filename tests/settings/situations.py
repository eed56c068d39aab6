"""The kinds of training that settings are resolved for."""

import numpy as np

from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.training_set import TrainingSet, unlabelled_pool
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.settings.used import Used

FROZEN = {"backbone": "efficientnet-lite0"}
WARM = {"freeze": False}
COLD = {"freeze": False, "warm_start": False}
SMALL = {"backbone": "small"}


def training_set(*, pictures=False, count=120, labelled=40, side=32):
    """Items in four classes, the first of them labelled; similar pairs are a known share."""
    labels = np.full(count, -1)
    labels[:labelled] = np.arange(labelled) % 4
    content = np.zeros((count, side, side, 3), np.uint8) if pictures else np.zeros((count, 4), np.float32)
    known = LabelPairs(labels)
    return TrainingSet(read_items(content), known, unlabelled_pool(count, known))


VECTORS = training_set()
PICTURES = training_set(pictures=True)


def used(training=VECTORS, **settings) -> Used:
    return resolve(Settings.from_keywords(settings), training)
