"""Look bits: a linear projection of what enters the head of a hash network, learned without any pair."""

import torch
from torch import Tensor, nn

from ..unsupervised.linear import LinearCoder
from .hash_network import HashNetwork


class Look(nn.Module):
    """Features (n, width) → ``bits`` real outputs, whose signs are the look bits.

    Args:
        bits: number of look bits.
        inputs: numbers in a feature vector.
    """

    center: Tensor
    projection: Tensor

    def __init__(self, bits: int, *, inputs: int) -> None:
        super().__init__()
        self.bits = bits
        self.register_buffer("center", torch.zeros(inputs))
        self.register_buffer("projection", torch.zeros(inputs, bits))

    @classmethod
    def of(cls, coder: LinearCoder) -> "Look":
        """With the numbers of a coder that was learned."""
        inputs, bits = coder.projection.shape
        look = cls(bits, inputs=inputs)
        look.center.copy_(torch.from_numpy(coder.center))
        look.projection.copy_(torch.from_numpy(coder.projection))
        return look

    def forward(self, features: Tensor) -> Tensor:
        """(n, inputs) → (n, bits)."""
        return (features - self.center) @ self.projection


class TwoParts(nn.Module):
    """A hash network and the look of the features that it sees: both parts of a code from one pass.

    Args:
        network: makes the learned bits, which come first.
        look: makes the look bits.
    """

    def __init__(self, network: HashNetwork, look: Look) -> None:
        super().__init__()
        self.network, self.look = network, look

    @property
    def width(self) -> int:
        """Numbers per item that come out."""
        return self.network.bits + self.look.bits

    def forward(self, inputs: Tensor) -> Tensor:
        """Images or vectors → (n, width)."""
        features = self.network.features(inputs)
        return torch.cat([self.network.head(features), self.look(features)], dim=1)
