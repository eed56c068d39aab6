"""The teacher: the moving average of the network that is trained."""

import torch
from torch import Tensor

from .hash_network import HashNetwork


class Teacher:
    """The moving average of a student network.

    Args:
        student: the network to follow; the teacher starts as a copy of it.
        network: a network of the same shape, which becomes the teacher's.
    """

    def __init__(self, student: HashNetwork, network: HashNetwork) -> None:
        network.load_state_dict(student.state_dict())
        network.requires_grad_(False)
        self.network = network
        self._weights: list[Tensor] = list(network.parameters())
        self._student_weights: list[Tensor] = list(student.parameters())
        self._buffers = list(network.buffers())
        self._student_buffers = list(student.buffers())

    @torch.no_grad()
    def update(self, decay: float) -> None:
        """Become ``decay`` parts itself and 1 - ``decay`` parts the student; buffers are copied."""
        torch._foreach_lerp_(self._weights, self._student_weights, 1 - decay)
        for own, student in zip(self._buffers, self._student_buffers, strict=True):
            own.copy_(student)
