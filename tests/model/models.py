"""Small trained models."""

import numpy as np

from pts3h import Hasher
from tests.pictures import random_pairs

VECTORS = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
PAIRS = random_pairs(np.arange(40) % 3, 60)
SMALL = {"backbone": "small", "image_size": 16, "labelled_per_batch": 8, "unlabelled_per_batch": 8}


def fitted(items=VECTORS, **settings):
    return Hasher(**({"bits": 12, "steps": 3, "hidden": 8} | settings)).fit(items, pairs=PAIRS)
