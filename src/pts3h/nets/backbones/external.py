"""Backbones from timm and torchvision, which are imported only when needed."""

from importlib import import_module
from typing import Any

from torch import Tensor, nn

from ...errors import UserError
from .backbone import IMAGENET, Backbone
from .weights import load_weights

LIBRARIES = {"timm": "pip install 'pts3h[timm]'", "torchvision": "pip install torchvision"}


class External(Backbone):
    """Another library's network without its classifier: images (n, 3, h, w) in [0, 1] → features.

    Args:
        name: ``timm:<model>`` or ``torchvision:<model>``.
        pretrained: whether that library should load its pretrained weights.
    """

    def __init__(self, name: str, *, pretrained: bool) -> None:
        library, model = name.split(":", 1)
        module = import_library(library)
        net, width = (timm_net if library == "timm" else torchvision_net)(module, model, pretrained)
        colours = getattr(net, "default_cfg", {})
        super().__init__(
            width=width,
            mean=colours.get("mean", IMAGENET["mean"]),
            std=colours.get("std", IMAGENET["std"]),
        )
        self.net = net

    def extract(self, images: Tensor) -> Tensor:
        """Normalised images → features."""
        vectors: Tensor = self.net(images)
        return vectors.flatten(1)

    def take_weights(self, tensors: dict[str, Tensor], source: str) -> list[str]:
        """The same, with the names that the other library gives to its parameters."""
        return load_weights(self.net, tensors, source)


def import_library(library: str) -> Any:
    """Import timm or torchvision's models, or say how to install them."""
    try:
        return import_module("timm" if library == "timm" else "torchvision.models")
    except Exception as error:  # a torchvision built for another torch fails with RuntimeError
        raise UserError(f"cannot import {library} ({error}): {LIBRARIES[library]}") from error


def timm_net(timm: Any, model: str, pretrained: bool) -> tuple[nn.Module, int]:
    """A timm network that returns pooled features, and their width."""
    try:
        net = timm.create_model(model, pretrained=pretrained, num_classes=0)
    except RuntimeError as error:
        raise UserError(f"timm has no model {model!r} ({error})") from error
    except OSError as error:
        raise UserError(f"timm cannot get the weights of {model!r} ({error})") from error
    return net, int(net.num_features)


def torchvision_net(models: Any, model: str, pretrained: bool) -> tuple[nn.Module, int]:
    """A torchvision network without its last linear layer, and the width of its features."""
    try:
        net: nn.Module = models.get_model(model, weights="DEFAULT" if pretrained else None)
    except ValueError as error:
        raise UserError(f"torchvision has no model {model!r} ({error})") from error
    except OSError as error:
        raise UserError(f"torchvision cannot get the weights of {model!r} ({error})") from error
    layers = [(n, m) for n, m in net.named_modules() if isinstance(m, nn.Linear)]
    if not layers:
        raise UserError(f"torchvision's {model} has no linear layer to remove: choose another model")
    name, last = layers[-1]
    net.set_submodule(name, nn.Identity())
    return net, last.in_features
