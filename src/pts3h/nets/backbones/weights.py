"""Pretrained weights from a file or an address, checked before use and never unpickled."""

from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from ...errors import UserError
from ...util.download import download

Net = TypeVar("Net", bound=nn.Module)


def read_weights(path: Path | str) -> dict[str, Tensor]:
    """The tensors of a ``.safetensors`` file or of a PyTorch file that holds nothing but tensors."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"there is no weight file {path}")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UserError(f"{path} is not a readable weight file ({type(error).__name__})") from error
    if not isinstance(tensors, dict) or not all(isinstance(value, Tensor) for value in tensors.values()):
        raise UserError(f"{path} holds more than named tensors: save the state_dict alone")
    return tensors


def with_published_weights(net: Net, name: str, address: str, *, sha256: str) -> Net:
    """``net`` with the weights at ``address``, which must cover all of it."""
    if missing := load_weights(net, fetch_weights(name, address, sha256=sha256), address):
        raise UserError(f"{address} does not cover {missing[0]}: it is for another network than {name}")
    return net


def fetch_weights(name: str, address: str, *, sha256: str) -> dict[str, Tensor]:
    """Download the weights of ``name`` once, to where torch keeps such files."""
    try:
        return read_weights(download(address, sha256=sha256, folder=Path(torch.hub.get_dir(), "checkpoints")))
    except UserError as error:
        raise UserError(
            f"cannot get the weights of {name}: {error}: give a local file with weights=, or weights='random'"
        ) from error


def load_weights(net: nn.Module, tensors: dict[str, Tensor], source: str) -> list[str]:
    """Copy tensors into ``net`` by name; return the names of its tensors that the source does not have.

    Tensors that ``net`` does not have, such as the classifier that the hash layer replaces, are ignored.
    """
    own = net.state_dict()
    fitting = {name: value for name, value in tensors.items() if name in own}
    if not fitting:
        raise UserError(f"{source} has no tensor in common with this network: it is for another one")
    for name, value in fitting.items():
        if value.shape != own[name].shape:
            raise UserError(
                f"{source}: {name} has shape {tuple(value.shape)}, "
                f"this network needs {tuple(own[name].shape)}"
            )
    net.load_state_dict(fitting, strict=False)
    return [name for name in own if name not in fitting]
