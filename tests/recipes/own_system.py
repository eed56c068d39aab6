"""The system of docs/recipes/system.md, in a module that the processes of a benchmark can import."""

import numpy as np

from pts3h.systems.shallow.system import ShallowSystem


def learn(known, bits, seed):
    """(n, d) vectors → (n, bits) numbers."""
    center = known.features.mean(axis=0)
    directions = np.random.default_rng(seed).normal(size=(len(center), bits))
    return lambda vectors: ((vectors - center) @ directions).astype(np.float32)


MINE = ShallowSystem(name="random-signs", label="Random signs", kind="unsupervised", learn=learn)
