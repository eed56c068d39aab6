"""A trained model: from items to outputs, and to and from a folder.

The folder holds ``config.json``, ``model.safetensors``, ``history.jsonl`` and a card, ``README.md``; it needs
nothing else to be loaded, not even the pretrained weights it started from.
"""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as serialize
from torch import Tensor

from .. import __version__
from ..data.inputs import VectorInputs
from ..data.items import Items
from ..data.views import VectorViews
from ..errors import UserError
from ..nets import Backbone, build_backbone
from ..nets.feature_cache import FrozenBackbone
from ..nets.hash_network import HashNetwork
from ..settings import Config, Network
from ..training.checkpoint import NAME as CHECKPOINT
from ..training.learning import pick_device
from ..training.loop import Record, write_history
from ..training.preparation import head_maker, whole_maker
from ..util import progress
from ..util.files import explain_os_errors, sync_folder, write_atomic, write_json, write_text

FORMAT = 1
FILES = ("model.safetensors", "history.jsonl", "README.md", "config.json")
BATCH = 512
IMAGE_BATCH = 64


@dataclass
class Model:
    """Both networks and what they need.

    Attributes:
        config: resolved settings.
        width: numbers in an input vector: the embeddings', or the backbone's features.
        student: the trained network.
        teacher: its moving average.
        backbone: the frozen image network in front of both; None for vectors and for fine-tuned networks.
        summary: what it was trained on, for the card.
        history: a record a step.
    """

    config: Config
    width: int
    student: HashNetwork
    teacher: HashNetwork
    backbone: Backbone | None
    summary: dict[str, Any]
    history: list[Record]

    @property
    def takes_images(self) -> bool:
        """Whether the items must be images."""
        return self.config.backbone != "none"

    def fingerprint(self) -> str:
        """A short name of everything that shapes the codes; an index made with another is refused."""
        config = self.config
        shaping = [config.bits, config.image_size, config.backbone]
        if config.code_size not in (None, config.image_size) or config.mirror:
            shaping += [config.code_size, config.mirror]
        digest = hashlib.sha256(" ".join(map(str, shaping)).encode())
        for name, tensor in sorted(self.tensors().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def tensors(self) -> dict[str, Tensor]:
        """All weights by name."""
        parts = {"student": self.student, "teacher": self.teacher, "backbone": self.backbone}
        return {
            f"{part}.{name}": tensor
            for part, network in parts.items()
            if network is not None
            for name, tensor in network.state_dict().items()
        }

    def outputs(
        self, items: Items, *, network: Network = "teacher", show: bool | None = None
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        """(n, bits) real outputs, and the reason by position for pictures that cannot be read."""
        if network not in ("teacher", "student"):
            raise UserError(f"network must be 'teacher' or 'student', got {network!r}")
        net = (
            (self.teacher if network == "teacher" else self.student)
            .to(pick_device(self.config.device))
            .eval()
        )
        if not self.takes_images:
            return self._vector_outputs(items, net), {}
        if items.images is None:
            raise UserError("this model codes pictures, and these items are vectors")
        size = self.config.image_size
        assert size is not None
        if self.backbone is None:
            return self._image_outputs(items, net, self.config.code_size or size, show)
        features = FrozenBackbone(self.backbone, name=self.config.backbone).clean(
            items.images, size=size, show=show
        )
        return run_in_batches(
            net, VectorInputs(features.array, VectorViews(0, 0)), len(items)
        ), features.broken

    def _vector_outputs(self, items: Items, net: HashNetwork) -> NDArray[np.float32]:
        vectors = items.content
        if not isinstance(vectors, np.ndarray):
            raise UserError(f"this model codes vectors of {self.width} numbers, and these items are pictures")
        if vectors.shape[1] != self.width:
            raise UserError(
                f"this model codes vectors of {self.width} numbers, these have {vectors.shape[1]}"
            )
        return run_in_batches(net, VectorInputs(vectors, VectorViews(0, 0)), len(items))

    def _image_outputs(
        self, items: Items, net: HashNetwork, size: int, show: bool | None
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        images, device = items.images, next(net.parameters()).device
        assert images is not None
        outputs = np.empty((len(items), self.config.bits), np.float32)
        broken: dict[int, str] = {}
        with torch.inference_mode(), progress.bar("coding", len(items), unit="images", show=show) as advance:
            for start in range(0, len(items), IMAGE_BATCH):
                positions = np.arange(start, min(start + IMAGE_BATCH, len(items)))
                loaded = images.load(positions, size)
                pixels = torch.from_numpy(loaded.pixels).to(device).float().div_(255)
                result = net(pixels)
                if self.config.mirror:
                    result = (result + net(pixels.flip(3))) / 2
                outputs[positions] = result.cpu().numpy()
                broken |= {start + place: reason for place, reason in loaded.broken.items()}
                advance(len(positions))
        return outputs, broken

    def save(self, folder: Path, *, overwrite: bool = False) -> None:
        """Write the model folder whole: a crash leaves the old one or the new one."""
        folder = Path(folder).resolve()
        if not overwrite:
            refuse_existing(folder)
        beside, name = can_be_swapped(folder), f".{folder.name}.{os.getpid()}.new"
        fresh = folder.with_name(name) if beside else folder / name
        with explain_os_errors(folder):
            fresh.mkdir(parents=True)
            try:
                self._write(fresh)
                (swap_folders if beside else move_files)(fresh, folder)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)

    def _write(self, folder: Path) -> None:
        description = {
            "format": FORMAT,
            "pts3h": __version__,
            "fingerprint": self.fingerprint(),
            "width": self.width,
            "frozen_backbone": self.backbone is not None,
            "settings": self.config.to_json(),
            "summary": self.summary,
        }
        write_json(folder / "config.json", description)
        content = serialize({name: tensor.contiguous() for name, tensor in self.tensors().items()})
        write_atomic(folder / "model.safetensors", lambda file: file.write(content))
        write_history(folder / "history.jsonl", self.history)
        write_text(folder / "README.md", card(description))


def load_model(folder: Path) -> Model:
    """Read what :meth:`Model.save` wrote."""
    folder = Path(folder)
    if not (folder / "model.safetensors").is_file() or not (folder / "config.json").is_file():
        raise UserError(f"{folder} is not a model folder: it needs config.json and model.safetensors")
    try:
        description = json.loads((folder / "config.json").read_text())
        if description["format"] != FORMAT:
            raise UserError(
                f"{folder} was written by another version of pts3h (format {description['format']})"
            )
        config = Config(**description["settings"])
        tensors = load_file(folder / "model.safetensors")
        lines = (
            (folder / "history.jsonl").read_text().splitlines() if (folder / "history.jsonl").exists() else []
        )
        width, history = int(description["width"]), [json.loads(line) for line in lines]
        fingerprint, summary = description["fingerprint"], dict(description["summary"])
        frozen = bool(description["frozen_backbone"]) and config.backbone != "none"
    except UserError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder} cannot be read as a model: {error}") from error
    backbone = None if config.backbone == "none" else build_backbone(config.backbone, weights="random")[0]
    make = head_maker(config, width) if backbone is None or frozen else whole_maker(config, backbone)
    model = Model(config, width, make(), make(), backbone if frozen else None, summary, history)
    for part, network in (
        ("student", model.student),
        ("teacher", model.teacher),
        ("backbone", model.backbone),
    ):
        if network is None:
            continue
        try:
            network.load_state_dict(
                {n.removeprefix(f"{part}."): t for n, t in tensors.items() if n.startswith(f"{part}.")}
            )
        except RuntimeError as error:
            raise UserError(f"{folder}: its weights do not fit its settings ({part})") from error
    if model.fingerprint() != fingerprint:
        raise UserError(f"{folder} is damaged: its weights are not those that were saved")
    return model


def run_in_batches(net: HashNetwork, inputs: VectorInputs, count: int) -> NDArray[np.float32]:
    """Outputs of all vectors."""
    device = next(net.parameters()).device
    outputs = np.empty((count, net.hash.out_features), np.float32)
    with torch.inference_mode():
        for start in range(0, count, BATCH):
            positions = np.arange(start, min(start + BATCH, count))
            outputs[positions] = net(inputs.clean(positions).to(device)).cpu().numpy()
    return outputs


def refuse_existing(folder: Path) -> None:
    """Never write over somebody's files unasked."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} exists and is not empty: choose another folder, or say overwrite")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: choose a folder")


def can_be_swapped(folder: Path) -> bool:
    """Whether another folder can take its place: not where a disk is mounted, as in containers."""
    return not folder.is_dir() or (not folder.is_mount() and os.access(folder.parent, os.W_OK))


def move_files(fresh: Path, folder: Path) -> None:
    """Put the files of ``fresh`` into ``folder`` one by one; the fingerprint tells of a crash in between."""
    for name in FILES:
        (fresh / name).replace(folder / name)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    sync_folder(folder)


def swap_folders(fresh: Path, folder: Path) -> None:
    """Put ``fresh`` in the place of ``folder``, and files that are not a model's back beside it."""
    old = fresh.with_suffix(".old")
    if not folder.exists():
        fresh.rename(folder)
        sync_folder(folder.parent)
        return
    folder.rename(old)
    try:
        fresh.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    for other in old.iterdir():
        if other.name not in (*FILES, CHECKPOINT):  # somebody else's
            other.rename(folder / other.name)
    sync_folder(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def card(description: dict[str, Any]) -> str:
    """The README of a model folder."""
    settings, summary = description["settings"], description["summary"]
    lines = [
        f"# A pts3h model: {settings['bits']} bits",
        "",
        "It turns "
        + ("pictures" if settings["backbone"] != "none" else f"vectors of {description['width']} numbers")
        + f" into binary codes of {settings['bits']} bits.",
        "",
        "```python",
        "import pts3h",
        'hasher = pts3h.Hasher.load("this folder")',
        "codes = hasher.encode(items)",
        "```",
        "",
        "| trained on | |",
        "|---|---|",
        *(f"| {name.replace('_', ' ')} | {value} |" for name, value in summary.items()),
        "",
        "| setting | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in settings.items()),
        "",
        f"Fingerprint {description['fingerprint']}, written by pts3h {description['pts3h']}.",
        "",
    ]
    return "\n".join(lines)
