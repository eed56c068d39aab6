"""The state of a training run in one file, written atomically, read without unpickling."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor, nn

from ..errors import UserError
from ..model.folder import CHECKPOINT
from ..settings.used import Used
from ..util.files import write_atomic


@dataclass(frozen=True)
class Checkpoint:
    """What a run needs to go on."""

    step: int
    student: nn.Module
    teacher: nn.Module
    optimizer: torch.optim.Optimizer
    used: Used


def save_checkpoint(folder: Path, state: Checkpoint) -> None:
    """Write ``checkpoint.safetensors`` into ``folder``."""
    tensors = {f"student.{name}": value for name, value in state.student.state_dict().items()}
    tensors |= {f"teacher.{name}": value for name, value in state.teacher.state_dict().items()}
    for number, memory in state.optimizer.state_dict()["state"].items():
        tensors |= {
            f"optimizer.{number}.{name}": value for name, value in memory.items() if value is not None
        }
    metadata = {"step": str(state.step), "config": json.dumps(state.used.to_json())}
    content = serialize({name: value.contiguous() for name, value in tensors.items()}, metadata)
    write_atomic(folder / CHECKPOINT, lambda file: file.write(content))


def read_checkpoint(folder: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a folder's checkpoint."""
    path = folder / CHECKPOINT
    if not path.is_file():
        raise UserError(f"{folder} holds no checkpoint to resume from")
    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} cannot be read ({error}): start anew with --overwrite") from error


def stored_settings(folder: Path) -> dict[str, Any]:
    """The settings of the run whose checkpoint lies in ``folder``."""
    settings: dict[str, Any] = json.loads(read_checkpoint(folder)[0]["config"])
    return settings


def load_checkpoint(
    folder: Path, student: nn.Module, teacher: nn.Module, optimizer: torch.optim.Optimizer, used: Used
) -> int:
    """Put the stored state into the networks and the optimiser; return the step it stands at."""
    metadata, tensors = read_checkpoint(folder)
    stored = json.loads(metadata["config"])
    if changed := sorted(name for name, value in used.to_json().items() if stored.get(name) != value):
        raise UserError(
            f"the run in {folder} had other settings ({', '.join(changed)}): resume with the same ones"
        )
    for name, network in (("student.", student), ("teacher.", teacher)):
        network.load_state_dict(
            {key.removeprefix(name): value for key, value in tensors.items() if key.startswith(name)}
        )
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    memory: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".")
            memory.setdefault(int(number), {})[name] = as_laid_out(value, weights[int(number)])
    optimizer.load_state_dict({**optimizer.state_dict(), "state": memory})
    return int(metadata["step"])


def as_laid_out(value: Tensor, weight: Tensor) -> Tensor:
    """With the strides of its weight: a fused optimiser walks through both in the order of the memory."""
    return torch.empty_like(weight).copy_(value) if value.shape == weight.shape else value
