"""Networks: backbones, the hash network on top of them, and the teacher."""

from .. import errors
from .backbones.backbone import Backbone
from .backbones.weights import fetch_weights, load_weights, read_weights

__all__ = ["BACKBONES", "Backbone", "build_backbone"]

BACKBONES = ("efficientnet-lite0", "efficientnet-lite2", "alexnet", "vgg16", "small")


def build_backbone(name: str, *, weights: str = "pretrained") -> tuple[Backbone, list[str]]:
    """Make an image network.

    Args:
        name: one of BACKBONES, or ``timm:<model>`` / ``torchvision:<model>``.
        weights: "pretrained", "random", or a weight file with this network's parameter names.

    Returns:
        The network, and the names of parameters that the weights did not cover (they are random).
    """
    if name.startswith(("timm:", "torchvision:")):
        from .backbones.external import External

        external = External(name, pretrained=weights == "pretrained")
        if weights in ("pretrained", "random"):
            return external, []
        return external, load_weights(external.net, read_weights(weights), weights)
    net: Backbone
    if name in ("efficientnet-lite0", "efficientnet-lite2"):
        from .backbones.efficientnet import EfficientNetLite

        if weights == "pretrained":
            return EfficientNetLite.pretrained(name), []
        net = EfficientNetLite(name)
    elif name == "alexnet":
        from .backbones.alexnet import AlexNet

        net = AlexNet()
    elif name == "vgg16":
        from .backbones.vgg import VGG16

        net = VGG16()
    elif name == "small":
        from .backbones.small import SmallConv

        net = SmallConv()
    else:
        raise errors.UserError(
            f"there is no backbone {name!r}: use {', '.join(BACKBONES)}, timm:<model> or torchvision:<model>"
        )
    if weights == "random" or (weights == "pretrained" and name == "small"):
        return net, []
    tensors = fetch_weights(name) if weights == "pretrained" else read_weights(weights)
    return net, load_weights(net, tensors, weights)
