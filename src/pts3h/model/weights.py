"""The weights of a model folder, ``model.safetensors``, as networks of torch."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as serialize
from torch import nn

from ..errors import UserError
from ..nets.backbones.build import build_backbone
from ..nets.look import Look
from ..settings.used import Used
from .described import WEIGHTS, Described, unreadable
from .networks import head_maker, whole_maker
from .replacing import current
from .trained import Networks


def weights_content(networks: Networks) -> bytes:
    """The file."""
    return serialize({name: tensor.contiguous() for name, tensor in networks.tensors().items()})


def read_networks(folder: Path, described: Described) -> Networks:
    """The networks of a folder, checked by their fingerprint."""
    used, width = described.used, described.width
    try:
        tensors = load_file(current(folder, WEIGHTS))
        expected = head_shapes(used, width)
    except (SafetensorError, OSError, ValueError, TypeError, RuntimeError) as error:
        raise unreadable(folder, error) from error
    for name, shape in expected.items():  # before memory is taken for sizes that a file merely names
        if name not in tensors or tensors[name].shape != shape:
            raise UserError(f"{folder}: its weights do not fit its settings ({name.partition('.')[0]})")
    networks = untrained(used, width, frozen=described.frozen)
    for part, network in networks.parts().items():
        own = {n.removeprefix(f"{part}."): t for n, t in tensors.items() if n.startswith(f"{part}.")}
        try:
            network.load_state_dict(own)
        except RuntimeError as error:
            raise UserError(f"{folder}: its weights do not fit its settings ({part})") from error
    if networks.fingerprint != described.fingerprint:
        raise UserError(f"{folder} is damaged: its weights are not those that were saved")
    return networks


def head_shapes(used: Used, width: int) -> dict[str, torch.Size]:
    """Shapes of the weights above the backbone, by their names in the file; no memory is taken."""
    with torch.device("meta"):
        parts: dict[str, nn.Module] = {"student": head_maker(used, width)()}
        if used.look_bits:
            parts["look"] = Look(used.look_bits, inputs=width)
    return {
        f"{part}.{name}": tensor.shape
        for part, network in parts.items()
        for name, tensor in network.state_dict().items()
    }


def untrained(used: Used, width: int, *, frozen: bool) -> Networks:
    """Networks whose weights are still to be filled in."""
    backbone = None
    make = head_maker(used, width)
    if used.takes_pictures:
        backbone = build_backbone(used.backbone, weights="random")[0]
        make = make if frozen else whole_maker(used, backbone)
    look = Look(used.look_bits, inputs=width) if used.look_bits else None
    return Networks(used, make(), make(), backbone if frozen else None, look)
