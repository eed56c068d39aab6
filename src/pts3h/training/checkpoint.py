"""The state of a training run in one file, written atomically, read without unpickling."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor, nn

from ..errors import UserError
from ..model.described import CHECKPOINT
from ..model.model import Record
from ..settings.defaults import ADDED_LATER
from ..settings.used import Used
from ..util.files import write_atomic

HISTORY, DIGEST = "history", "digest"


@dataclass(frozen=True)
class Checkpoint:
    """What a run needs to go on."""

    step: int
    student: nn.Module
    teacher: nn.Module
    optimizer: torch.optim.Optimizer
    used: Used
    history: list[Record]


def save_checkpoint(folder: Path, state: Checkpoint) -> None:
    """Write ``checkpoint.safetensors`` into ``folder``."""
    tensors = {f"student.{name}": value for name, value in state.student.state_dict().items()}
    tensors |= {f"teacher.{name}": value for name, value in state.teacher.state_dict().items()}
    tensors |= {f"beside.{place}": weight for place, weight in beside(state.student, state.optimizer).items()}
    for number, memory in state.optimizer.state_dict()["state"].items():
        tensors |= {
            f"optimizer.{number}.{name}": value for name, value in memory.items() if value is not None
        }
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    # a header has a limit, a tensor has none
    tensors[HISTORY] = torch.frombuffer(bytearray(json.dumps(state.history).encode()), dtype=torch.uint8)
    metadata = {"step": str(state.step), "config": json.dumps(state.used.to_json())}
    content = serialize(tensors, metadata | {DIGEST: digest(metadata, tensors)})
    write_atomic(folder / CHECKPOINT, lambda file: file.write(content))


def beside(student: nn.Module, optimizer: torch.optim.Optimizer) -> dict[int, nn.Parameter]:
    """What an objective learns beside the network, by its place in the optimiser."""
    own = {id(weight) for weight in student.parameters()}
    return {place: one for place, one in enumerate(weights_of(optimizer)) if id(one) not in own}


def weights_of(optimizer: torch.optim.Optimizer) -> list[nn.Parameter]:
    """All that is learned, in the order of the optimiser."""
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def read_checkpoint(folder: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a folder's checkpoint."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise UserError(f"{folder} holds no checkpoint to resume from")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}): start anew with --overwrite") from error
    if metadata.pop(DIGEST, None) != digest(metadata, tensors):
        raise UserError(f"{path} is damaged, or of an earlier version: start anew with --overwrite")
    return metadata, tensors


def digest(metadata: Mapping[str, str], tensors: Mapping[str, Tensor]) -> str:
    """Of all there is in a checkpoint."""
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()


def stored_settings(folder: Path) -> dict[str, Any]:
    """The settings of the run whose checkpoint lies in ``folder``."""
    settings: dict[str, Any] = json.loads(read_checkpoint(folder)[0]["config"])
    return settings


def load_checkpoint(
    folder: Path, student: nn.Module, teacher: nn.Module, optimizer: torch.optim.Optimizer, used: Used
) -> tuple[int, list[Record]]:
    """Put the stored state into the networks and the optimiser; the step it stands at, and the history."""
    metadata, tensors = read_checkpoint(folder)
    stored = ADDED_LATER | json.loads(metadata["config"])
    if changed := sorted(name for name, value in used.to_json().items() if stored.get(name) != value):
        raise UserError(
            f"the run in {folder} had other settings ({', '.join(changed)}): resume with the same ones"
        )
    for name, network in (("student.", student), ("teacher.", teacher)):
        network.load_state_dict(
            {key.removeprefix(name): value for key, value in tensors.items() if key.startswith(name)}
        )
    with torch.no_grad():
        for place, weight in beside(student, optimizer).items():
            if (found := tensors.get(f"beside.{place}")) is None:
                raise UserError(f"the run in {folder} is of an earlier version: start anew with --overwrite")
            weight.copy_(found)
    weights = weights_of(optimizer)
    memory: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".")
            memory.setdefault(int(number), {})[name] = as_laid_out(value, weights[int(number)])
    optimizer.load_state_dict({**optimizer.state_dict(), "state": memory})
    return int(metadata["step"]), json.loads(tensors[HISTORY].numpy().tobytes())


def as_laid_out(value: Tensor, weight: Tensor) -> Tensor:
    """With the strides of its weight: a fused optimiser walks through both in the order of the memory."""
    return torch.empty_like(weight).copy_(value) if value.shape == weight.shape else value
