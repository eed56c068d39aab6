"""The model folder: ``config.json``, ``model.safetensors``, ``history.jsonl`` and a card, ``README.md``.

It needs nothing else to be loaded, not even the pretrained weights that training started from.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as serialize
from torch import nn

from .. import __version__
from ..errors import UserError
from ..nets.backbones.build import build_backbone
from ..nets.backbones.table import BackboneRow, find_backbone
from ..nets.look import Look
from ..settings.defaults import NO_BACKBONE
from ..settings.used import Used
from ..util.files import explain_os_errors, write_atomic, write_json, write_text
from ..util.sealed import sealed, unsealed
from .card import card
from .earlier import from_format_1
from .model import Model, Record
from .networks import head_maker, whole_maker
from .replacing import current, is_empty, read_together, replacing

FORMAT = 2
WEIGHTS, CHECKPOINT, REPORT = "model.safetensors", "checkpoint.safetensors", "report.html"
FILES = (WEIGHTS, "history.jsonl", "README.md", "config.json")
OUTDATED = (CHECKPOINT, REPORT)  # what may lie beside them, and goes when a new model takes their place


def save_model(model: Model, folder: Path, *, overwrite: bool = False) -> None:
    """Write the model folder whole: a crash leaves the old one or the new one."""
    with explain_os_errors(folder):
        folder = Path(folder).resolve()
    if not overwrite:
        refuse_existing(folder)
    with replacing(folder, outdated=OUTDATED) as fresh:
        write_files(model, fresh)


def write_files(model: Model, folder: Path) -> None:
    """Every file of a model."""
    history = history_text(model.history)
    description = {
        "format": FORMAT,
        "pts3h": __version__,
        "fingerprint": model.fingerprint,
        "width": model.width,
        "frozen_backbone": model.backbone is not None,
        "asked": dict(model.asked),
        "settings": model.used.to_json(),
        "summary": model.summary,
        "history": text_digest(history),
    }
    write_json(folder / "config.json", sealed(description))
    content = serialize({name: tensor.contiguous() for name, tensor in model.tensors().items()})
    write_atomic(folder / WEIGHTS, lambda file: file.write(content))
    write_text(folder / "history.jsonl", history)
    write_text(folder / "README.md", card(description))


def history_text(history: list[Record]) -> str:
    """One JSON object per step, a line each."""
    return "".join(json.dumps(record) + "\n" for record in history)


def text_digest(text: str) -> str:
    """By which a text is known again."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_model(folder: Path | str, *, backbone: BackboneRow | None = None) -> Model:
    """Read a model folder, for encoding alone: nothing of the training loop is imported.

    Args:
        folder: what ``Hasher.save`` or ``pts3h fit`` wrote.
        backbone: the backbone of your own that the model was trained with, if it was.
    """
    folder = Path(folder)
    if not all(current(folder, name).is_file() for name in (WEIGHTS, "config.json")):
        raise UserError(f"{folder} is not a model folder: it needs config.json and {WEIGHTS}")
    if backbone is not None:
        find_backbone(backbone)
    return read_together(folder, FILES, lambda: read_model(folder))


def read_model(folder: Path) -> Model:
    """The model of a folder, checked by its fingerprint."""
    try:
        description = unsealed(json.loads(current(folder, "config.json").read_text(encoding="utf-8")))
        history = read_history(current(folder, "history.jsonl"), description.get("history"))
        used = read_settings(description, len(history))
        tensors = load_file(current(folder, WEIGHTS))
        width, summary = int(description["width"]), dict(description["summary"])
        fingerprint, frozen = description["fingerprint"], bool(description["frozen_backbone"])
        asked = dict(description.get("asked", {"bits": used.bits, "loss": used.loss, "seed": used.seed}))
        expected = head_shapes(used, width)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise UserError(f"{folder} cannot be read as a model: {' '.join(str(error).split())}") from error
    for name, shape in expected.items():  # before memory is taken for sizes that a file merely names
        if name not in tensors or tensors[name].shape != shape:
            raise UserError(f"{folder}: its weights do not fit its settings ({name.partition('.')[0]})")
    model = untrained(used, width, summary, history, frozen=frozen)
    model.asked = asked
    for part, network in model.parts().items():
        own = {n.removeprefix(f"{part}."): t for n, t in tensors.items() if n.startswith(f"{part}.")}
        try:
            network.load_state_dict(own)
        except RuntimeError as error:
            raise UserError(f"{folder}: its weights do not fit its settings ({part})") from error
    if model.fingerprint != fingerprint:
        raise UserError(f"{folder} is damaged: its weights are not those that were saved")
    return model


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


def read_settings(description: dict[str, Any], steps: int) -> Used:
    """The settings of a model, also of the format before this one."""
    stored = description["settings"]
    match description["format"]:
        case 1:
            stored = from_format_1(stored, description["summary"], steps)
        case 2:
            pass
        case other:
            raise UserError(f"it was written by another version of pts3h (format {other})")
    return Used.from_json(stored)


def read_history(path: Path, digest: str | None) -> list[Record]:
    """The records of a training run; none where the file is gone. Earlier versions noted no digest."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    if digest not in (None, text_digest(text)):
        raise ValueError(f"{path.name} is not the one that was saved")
    return [json.loads(line) for line in text.splitlines()]


def untrained(
    used: Used, width: int, summary: dict[str, Any], history: list[Record], *, frozen: bool
) -> Model:
    """A model whose weights are still to be filled in."""
    backbone = None
    make = head_maker(used, width)
    if used.backbone != NO_BACKBONE:
        backbone = build_backbone(used.backbone, weights="random")[0]
        make = make if frozen else whole_maker(used, backbone)
    look = Look(used.look_bits, inputs=width) if used.look_bits else None
    return Model(used, width, make(), make(), backbone if frozen else None, look, summary, history)


def refuse_existing(folder: Path) -> None:
    """Never write over a user's files unasked."""
    if folder.is_dir() and not is_empty(folder):
        raise UserError(f"{folder} exists and is not empty: choose another folder, or say overwrite")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose a folder")
