"""The network that is trained: an optional backbone, an optional hidden layer, and the linear hash layer."""

import torch
from torch import Tensor, nn

from .backbones.backbone import Backbone


class HashNetwork(nn.Module):
    """Images or vectors → ``bits`` real outputs, whose signs are the code.

    Args:
        bits: number of learned bits.
        inputs: numbers in an input vector (the backbone's width where there is one).
        hidden: width of the hidden layer with BatchNorm and ReLU; 0 leaves it out.
        dropout: share of hidden activations dropped while training.
        backbone: image network in front, where it is trained too.
        fixed_norm: whether the backbone keeps its BatchNorm statistics while training. Batches of a few dozen
            images estimate them badly: fine-tuning lost half its MAP with moving statistics.
    """

    center: Tensor
    scale: Tensor

    def __init__(
        self,
        bits: int,
        *,
        inputs: int,
        hidden: int,
        dropout: float,
        backbone: Backbone | None = None,
        fixed_norm: bool = True,
    ) -> None:
        super().__init__()
        self.bits, self.backbone, self.fixed_norm = bits, backbone, fixed_norm
        self.register_buffer("center", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(()))
        self.trunk = nn.Sequential()
        if hidden:
            self.trunk.append(nn.Linear(inputs, hidden, bias=False))  # BatchNorm has the bias
            self.trunk.append(nn.BatchNorm1d(hidden))
            self.trunk.append(nn.ReLU(inplace=True))
            self.trunk.append(nn.Dropout(dropout))
        self.hash = nn.Linear(hidden or inputs, bits)
        nn.init.normal_(self.hash.weight, std=0.01)
        nn.init.zeros_(self.hash.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """(n, 3, h, w) images in [0, 1], or (n, inputs) vectors → (n, bits)."""
        return self.head(self.features(inputs))

    def features(self, inputs: Tensor) -> Tensor:
        """What enters the head: what the backbone makes of images, or the vectors themselves."""
        return inputs if self.backbone is None else self.backbone(inputs)

    def head(self, features: Tensor) -> Tensor:
        """Features (n, inputs) → (n, bits)."""
        outputs: Tensor = self.hash(self.trunk((features - self.center) / self.scale))
        return outputs

    @property
    def width(self) -> int:
        """Numbers per item that come out."""
        return self.bits

    def standardize(self, center: Tensor, spread: Tensor) -> None:
        """Take vectors of any mean and size: subtract the mean, divide by the typical spread, one number."""
        self.center.copy_(center)
        self.scale.copy_(spread.square().mean().sqrt().clamp(min=1e-12))

    def train(self, mode: bool = True) -> "HashNetwork":
        """As ``nn.Module.train``, but a backbone with fixed norms keeps their statistics."""
        super().train(mode)
        if self.backbone is not None and self.fixed_norm:
            for module in self.backbone.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()
        return self
