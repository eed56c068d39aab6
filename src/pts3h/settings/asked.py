"""What a user asks for: every setting with its type, its limits and its reason.

What is used once the data is known is another type, :class:`pts3h.settings.used.Used`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Literal, Self, get_args, get_origin

import numpy as np

from ..codes import DEFAULT_WEIGHT, Layout, check_bits
from ..errors import UserError
from ..losses.table import LOSSES, Loss, Reading
from ..nets.backbones.table import BackboneRow, find_backbone

Optimizer = Literal["auto", "sgd", "adamw"]
Precision = Literal["auto", "float32", "bfloat16"]
Network = Literal["teacher", "student"]

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a hasher. ``None`` and "auto" leave the choice to the loss, the data and the defaults."""

    bits: int = 64
    """Number of learned bits."""
    look_bits: int | None = None
    """Number of look bits behind them: not learned from pairs, they break ties and find near-copies. By
    default 0."""
    loss: str | Loss = "dsh"
    """Pairwise loss: a name, or a :class:`~pts3h.losses.table.Loss` of your own."""
    seed: int = 0
    """Seed of everything random. The same seed and data give the same model on the same machine."""

    omega: float | None = None
    """Weight of the unlabelled terms; 0 is supervised training. By default the loss decides."""
    gamma: float | None = None
    """Weight of the quantized similarity loss among them; 0 is variant P. By default the loss decides."""
    eta: float | None = None
    """Weight of the quantization loss, which pulls outputs towards -1 and +1. By default the loss decides."""
    consistency: bool | None = None
    """Whether the consistent similarity loss takes part; off is variant Q. By default it does."""
    alpha: float | None = None
    """How much the teacher keeps of itself at each step. The paper's 0.995 is for tens of thousands of steps;
    by default the window is a fiftieth of the run, and alpha at most 0.995."""
    similar_share: float | None = None
    """rho, the share of unknown pairs taken for alike. By default the share among labelled items; from a list
    of pairs it is estimated, since people mark about as many alike as not."""
    neighbours: float | None = None
    """How much of the similarities of unknown pairs comes from the graph of nearest neighbours, along which
    known pairs are spread; the teacher supplies the rest, and all of it if 0, as in the paper. By default
    1."""
    fade: float | None = None
    """Share of the steps over which the neighbours give way to the teacher, evenly; 0 for never. By default
    0.7 for labels, 0 for pairs and where nothing is known."""
    classes: float | None = None
    """Weight of a classifier beside the pairs, which learns from labels and from what the teacher is sure of;
    0 as in the paper. By default 0.5 for labels where neighbours teach, else 0."""
    pseudo: Reading = "auto"
    """How the pairwise loss reads normalised outputs: "code" scales them to code space, "literal" not."""
    divide: bool | None = None
    """Whether DSH is divided by bits and KSH by bits², so that omega fits every code length. By default
    yes."""

    labelled_per_batch: int | None = None
    """Labelled items per batch. By default 32; MIHash takes 96, or 128 without unlabelled items."""
    unlabelled_per_batch: int | None = None
    """Unlabelled items per batch. By default 96: 1 : 3 items make 1 : 15 pairs, the paper's ratio."""
    steps: int | None = None
    """Optimiser steps. By default 1000 on vectors and frozen features, fewer for few items, up to 4000 for
    thousands of labelled ones, up to 2000 for tens of thousands of others where neighbours teach."""
    epochs: float | None = None
    """Passes over the unlabelled items, instead of steps. By default 5 for fine-tuning."""
    optimizer: Optimizer = "auto"
    """"sgd" with momentum, or "adamw". By default AdamW for fine-tuning, else SGD."""
    learning_rate: float | None = None
    """Learning rate of the hash layer and the hidden layer. By default the loss decides; 0.001 for
    fine-tuning."""
    backbone_rate: float | None = None
    """Learning rate of a fine-tuned backbone, as a share of ``learning_rate``. By default 0.1."""
    momentum: float | None = None
    """Momentum of SGD. By default 0.9."""
    weight_decay: float | None = None
    """Weight decay. By default 0.0005."""
    clip: float | None = None
    """Longest step of SGD, as its learning rate times the norm of the gradient; 0 for any. A batch holds few
    pairs of a list, and by chance they can drive a run apart. By default 0.075 for pairs, else 0."""
    warmup: float | None = None
    """Share of the steps over which the learning rate grows. By default 0.1."""
    lead: float | None = None
    """Share of the steps before unlabelled items join. They cost little then, and the teacher knows more when
    they do. By default 0."""
    ramp: float | None = None
    """Share of the steps over which omega grows, after ``lead``. By default 0.3 (the paper: about 5 epochs of
    60)."""

    backbone: str | BackboneRow = "auto"
    """Image network: a name, timm:<model>, torchvision:<model>, or a
    :class:`~pts3h.nets.backbones.table.BackboneRow` of your own. By default efficientnet-lite0."""
    weights: str | None = None
    """"pretrained", "random", or a weight file. By default pretrained, if the backbone has such weights."""
    freeze: bool | None = None
    """Whether the backbone's features are computed once and only what is above it is trained. By default yes,
    unless the backbone is untrained."""
    warm_start: bool | None = None
    """Whether fine-tuning starts from a head trained on frozen features. By default yes, unless the backbone
    is untrained."""
    fixed_blocks: int | None = None
    """How many of the backbone's first blocks stay as they are while fine-tuning, so that what they make of a
    picture is computed once. By default 0."""
    fixed_norm: bool | None = None
    """Whether fine-tuning keeps the backbone's BatchNorm statistics. By default yes, unless the backbone is
    untrained."""
    hidden: int | None = None
    """Width of the hidden layer; 0 for none. By default 512, or none behind AlexNet and VGG."""
    dropout: float | None = None
    """Dropout of the hidden layer. By default 0.1."""
    image_size: int | None = None
    """Pixels per side. By default three times the pictures' own, 96 to 224."""
    code_size: int | None = None
    """Pixels per side when pictures are encoded. Random crops enlarge what is in a picture, so that encoding
    at a third more than training gains. By default ``image_size``."""
    mirror: bool | None = None
    """Whether a picture is encoded together with its mirror image: better codes in twice the time. By
    default no."""
    views: int | None = None
    """Perturbed copies of each picture in the feature cache. By default 3."""
    crop: float | None = None
    """Smallest share of a picture's area that a random crop keeps. By default 0.5."""
    flip: float | None = None
    """Probability of mirroring a picture. By default 0.5."""
    jitter: float | None = None
    """Strength of random brightness, contrast and saturation. By default 0.2."""
    noise: float | None = None
    """Gaussian noise on vectors, in their own spread. By default 0.2, 0 for features."""
    drop: float | None = None
    """Share of a vector's entries that is dropped. By default 0.1, 0 for features."""
    device: str = "auto"
    """"cpu", "cuda", ...; by default a GPU where there is one."""
    precision: Precision = "auto"
    """Numbers that networks compute with while training: "float32", or "bfloat16", half as long, which some
    processors are quicker with. Losses, weights and encoding stay at float32. By default float32."""
    compile: bool | None = None
    """Whether the networks are compiled for training: it takes a minute, and a C++ compiler, or Triton on a
    GPU. By default no."""

    def __post_init__(self) -> None:
        check_bits(self.bits)
        for field in fields(self):
            check_kind(field.name, getattr(self, field.name), field.type)
        Layout(self.bits, self.look_bits or 0, DEFAULT_WEIGHT)  # refuses codes that are too long
        LOSSES.find(self.loss)
        if self.backbone != AUTO:
            find_backbone(self.backbone)
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UserError(f"{name} must be between {low:g} and {high:g}, got {value!r}")
        if self.steps is not None and self.epochs is not None:
            raise UserError("give steps or epochs, not both")

    def asked(self) -> dict[str, Any]:
        """What the user did ask for, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None and value != AUTO}

    def to_json(self) -> dict[str, Any]:
        """What was asked for as plain values: rows of a user's own by their names."""
        return {name: getattr(value, "name", value) for name, value in self.asked().items()}

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> Self:
        """From names and values; an unknown name is answered with the nearest that exists."""
        check_names(keywords)
        return cls(**plain(keywords))


def check_names(keywords: Mapping[str, Any]) -> None:
    """Refuse a name that is not a setting's."""
    names = [field.name for field in fields(Settings)]
    for name in keywords:
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            hint = f": did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
            raise UserError(f"there is no setting {name!r}{hint}")


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """numpy's numbers as Python's."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def check_kind(name: str, value: Any, annotation: Any) -> None:
    """Refuse text where a number belongs, and the like."""
    if get_origin(annotation) is Literal:
        if value not in get_args(annotation):
            raise UserError(f"{name} must be one of {', '.join(get_args(annotation))}, got {value!r}")
        return
    kinds = list(get_args(annotation) or (annotation,))
    if float in kinds:
        kinds.append(int)
    if type(value) not in kinds:
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        wanted = [words.get(kind, f"a {kind.__name__}") for kind in kinds[:2] if kind is not type(None)]
        raise UserError(f"{name} must be {' or '.join(wanted)}, got {value!r}")


RANGES: dict[str, tuple[float, float]] = {
    "omega": (0, 1e6),
    "gamma": (0, 1e6),
    "eta": (0, 1e6),
    "alpha": (0, 1),
    "similar_share": (0, 1),
    "neighbours": (0, 1),
    "fade": (0, 1),
    "classes": (0, 1e6),
    "labelled_per_batch": (2, 1e6),
    "unlabelled_per_batch": (0, 1e6),
    "steps": (1, 1e9),
    "epochs": (0, 1e9),
    "learning_rate": (0, 1e3),
    "backbone_rate": (0, 1e3),
    "momentum": (0, 1),
    "weight_decay": (0, 1),
    "clip": (0, 1e3),
    "warmup": (0, 1),
    "lead": (0, 1),
    "ramp": (0, 1),
    "fixed_blocks": (0, 1e3),
    "hidden": (0, 1e6),
    "dropout": (0, 0.99),
    "image_size": (0, 4096),
    "code_size": (0, 4096),
    "views": (0, 64),
    "crop": (0.01, 1),
    "flip": (0, 1),
    "jitter": (0, 1),
    "noise": (0, 1e3),
    "drop": (0, 0.99),
}
