"""A training step made by hand, for tests of objectives."""

import numpy as np
import torch

from pts3h.nets.hash_network import HashNetwork
from pts3h.objectives.objective import Step


def as_tensor(array):
    return None if array is None else torch.as_tensor(array)


def make_step(
    outputs, known, similar, *, teacher=None, number=1, weight=1.0, positions=None, inputs=None, student=None
):
    count, bits = outputs.shape
    return Step(
        number,
        weight,
        np.arange(count) if positions is None else positions,
        torch.zeros(count, 4) if inputs is None else as_tensor(inputs),
        as_tensor(outputs),
        as_tensor(teacher),
        as_tensor(known),
        as_tensor(similar),
        student or HashNetwork(bits, inputs=4, hidden=0, dropout=0.0),
    )
