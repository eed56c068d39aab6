"""The networks that the settings ask for, untrained."""

import warnings
from collections.abc import Callable
from copy import deepcopy

import torch

from ..errors import UserError
from ..nets.backbones.backbone import Backbone
from ..nets.backbones.build import build_backbone
from ..nets.backbones.parts import LowerPart, UpperPart, divisible
from ..nets.hash_network import HashNetwork
from ..nets.layout import channels_last
from ..settings.used import Used
from ..unsupervised.linear import check_directions

NetworkMaker = Callable[[], HashNetwork]


def load_backbone(used: Used) -> Backbone:
    """The image network of the settings.

    What is random in it follows the seed; where it stays as it is, all seeds share one, and so its features.
    """
    with torch.random.fork_rng():
        torch.manual_seed(0 if used.freeze else used.seed)
        backbone, missing = build_backbone(used.backbone, weights=used.weights)
    check_directions("look_bits", used.look_bits, backbone.width)
    if used.fixed_blocks:
        divisible(backbone, used.fixed_blocks)
    if missing:
        some = f"{', '.join(missing[:4])}{', ...' if len(missing) > 4 else ''}"
        warnings.warn(
            f"{used.weights} does not cover {len(missing)} tensors of {used.backbone}, "
            f"which start at random: {some}",
            UserWarning,
            stacklevel=4,
        )
    return backbone


def head_maker(used: Used, inputs: int) -> NetworkMaker:
    """Makes networks without a backbone, for vectors of ``inputs`` numbers."""
    return lambda: HashNetwork(used.bits, inputs=inputs, hidden=used.hidden, dropout=used.dropout)


def whole_maker(used: Used, backbone: Backbone, lower: LowerPart | None = None) -> NetworkMaker:
    """Makes networks with a copy of ``backbone`` in front, or only of what is above its ``lower`` part."""

    def make() -> HashNetwork:
        own = deepcopy(backbone)
        network = HashNetwork(
            used.bits,
            inputs=backbone.width,
            hidden=used.hidden,
            dropout=used.dropout,
            backbone=own if lower is None else UpperPart(own, lower),
            fixed_norm=used.fixed_norm,
        )
        return channels_last(network)

    return make


def whole_again(network: HashNetwork) -> HashNetwork:
    """The same with the whole image network in front, where only its upper part was trained."""
    if isinstance(network.backbone, UpperPart):
        network.backbone = network.backbone.whole
    return network


def pick_device(name: str) -> torch.device:
    """The device to run on."""
    try:
        device = torch.device(name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
        torch.empty(0, device=device)  # a device can have a name and not be there
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"there is no device {name!r} here ({str(error).splitlines()[0]})") from error
    if device.type == "meta":
        raise UserError("the device 'meta' computes nothing: choose 'cpu', 'cuda' or 'auto'")
    return device
