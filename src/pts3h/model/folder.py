"""The model folder: ``config.json``, ``model.safetensors``, ``history.jsonl`` and a card, ``README.md``.

It needs nothing else to be loaded, not even the pretrained weights that training started from. With
``model.onnx`` in it, not even torch.
"""

from pathlib import Path

from ..errors import UserError
from ..nets.backbones.table import BackboneRow, find_backbone
from ..util.extras import install, is_installed, require
from ..util.files import explain_os_errors, write_atomic, write_json, write_text
from ..util.sealed import sealed
from .card import card
from .described import (
    CARD,
    CHECKPOINT,
    CONFIG,
    HISTORY,
    ONNX,
    REPORT,
    WEIGHTS,
    Described,
    describe,
    history_text,
    read_description,
)
from .model import Model
from .onnx_file import is_file_of
from .onnx_runner import OnnxRunner
from .replacing import current, is_empty, read_together, replacing
from .runner import Runner

FILES = (WEIGHTS, ONNX, HISTORY, CARD, CONFIG)
OUTDATED = (CHECKPOINT, REPORT, ONNX)  # what may lie beside a model, and goes when a new one takes its place


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
    from .weights import weights_content

    description = describe(model)
    write_json(folder / CONFIG, sealed(description))
    content = weights_content(model.networks)
    write_atomic(folder / WEIGHTS, lambda file: file.write(content))
    write_text(folder / HISTORY, history_text(model.history))
    write_text(folder / CARD, card(description))


def load_model(folder: Path | str, *, backbone: BackboneRow | None = None) -> Model:
    """Read a model folder, for encoding alone: nothing of the training loop is imported.

    Args:
        folder: what ``Hasher.save`` or ``pts3h fit`` wrote.
        backbone: the backbone of your own that the model was trained with, if it was.
    """
    folder = Path(folder)
    has_weights, has_onnx, has_config = (current(folder, n).is_file() for n in (WEIGHTS, ONNX, CONFIG))
    if not (has_config and (has_weights or has_onnx)):
        raise UserError(f"{folder} is not a model folder: it needs {CONFIG} and {WEIGHTS}")
    if backbone is not None:
        find_backbone(backbone)
    return read_together(folder, FILES, lambda: read_model(folder))


def read_model(folder: Path) -> Model:
    """The model of a folder, checked by its fingerprint."""
    described = read_description(folder)
    return Model(pick_runner(folder, described), described.summary, described.history, described.asked)


def pick_runner(folder: Path, described: Described) -> Runner:
    """onnxruntime where it is installed and its file is there, which is quick to load; else torch.

    The file may be an earlier model's, if a crash left it there. Then it counts as missing.
    """
    weights, is_exported = current(folder, WEIGHTS), is_file_of(current(folder, ONNX), described.fingerprint)
    if is_exported and is_installed("onnxruntime"):
        return OnnxRunner(folder, described)
    if weights.is_file() and is_installed("torch"):
        from .weights import read_networks

        return read_networks(folder, described)
    if is_exported:
        require("onnxruntime", f"encoding with {folder}")
    if not weights.is_file():
        raise UserError(f"{folder} has no {WEIGHTS}, and its {ONNX} is damaged or another model's")
    raise UserError(
        f"encoding with {folder} needs torch: {install('torch')}; or run 'pts3h export {folder} --onnx' "
        "where torch is"
    )


def refuse_existing(folder: Path) -> None:
    """Never write over a user's files unasked."""
    if folder.is_dir() and not is_empty(folder):
        raise UserError(f"{folder} exists and is not empty: choose another folder, or say overwrite")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose a folder")
