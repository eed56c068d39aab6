"""What a model folder says of its model: ``config.json`` and ``history.jsonl``."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import UserError
from ..settings.used import Used
from ..util.sealed import unsealed
from .earlier import from_format_1
from .model import Model, Record
from .replacing import current

FORMAT = 2
# the files of a folder
CONFIG, HISTORY, CARD = "config.json", "history.jsonl", "README.md"
WEIGHTS, ONNX = "model.safetensors", "model.onnx"
CHECKPOINT, REPORT = "checkpoint.safetensors", "report.html"


@dataclass(frozen=True)
class Described:
    """All but the weights.

    Attributes:
        used: the settings.
        width: numbers in an input vector.
        fingerprint: by which the weights are known.
        frozen: whether there is a frozen backbone.
        summary: what it was trained on.
        history: one record per step.
        asked: what the user asked for, by setting.
    """

    used: Used
    width: int
    fingerprint: str
    frozen: bool
    summary: dict[str, Any]
    history: list[Record]
    asked: dict[str, Any]


def describe(model: Model) -> dict[str, Any]:
    """What ``config.json`` says, but for its checksum."""
    return {
        "format": FORMAT,
        "pts3h": __version__,
        "fingerprint": model.fingerprint,
        "width": model.width,
        "frozen_backbone": model.networks.backbone is not None,
        "asked": dict(model.asked),
        "settings": model.used.to_json(),
        "summary": model.summary,
        "history": text_digest(history_text(model.history)),
    }


def read_description(folder: Path) -> Described:
    """What a folder says; UserError where it cannot be understood."""
    try:
        stored = unsealed(json.loads(current(folder, CONFIG).read_text(encoding="utf-8")))
        history = read_history(current(folder, HISTORY), stored.get("history"))
        used = read_settings(stored, len(history))
        return Described(
            used=used,
            width=int(stored["width"]),
            fingerprint=stored["fingerprint"],
            frozen=bool(stored["frozen_backbone"]),
            summary=dict(stored["summary"]),
            history=history,
            asked=dict(stored.get("asked", {"bits": used.bits, "loss": used.loss, "seed": used.seed})),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise unreadable(folder, error) from error


def unreadable(folder: Path, error: Exception) -> UserError:
    """What to say of a folder that is no model."""
    return UserError(f"{folder} cannot be read as a model: {' '.join(str(error).split())}")


def history_text(history: list[Record]) -> str:
    """One JSON object per step, a line each."""
    return "".join(json.dumps(record) + "\n" for record in history)


def text_digest(text: str) -> str:
    """By which a text is known again."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_settings(stored: dict[str, Any], steps: int) -> Used:
    """The settings of a model, also of the format before this one."""
    settings = stored["settings"]
    match stored["format"]:
        case 1:
            settings = from_format_1(settings, stored["summary"], steps)
        case 2:
            pass
        case other:
            raise UserError(f"it was written by another version of pts3h (format {other})")
    return Used.from_json(settings)


def read_history(path: Path, digest: str | None) -> list[Record]:
    """The records of a training run; none where the file is gone. Earlier versions noted no digest."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    if digest not in (None, text_digest(text)):
        raise ValueError(f"{path.name} is not the one that was saved")
    records: list[Record] = json.loads(f"[{','.join(text.splitlines())}]")  # at once: there are thousands
    return records
