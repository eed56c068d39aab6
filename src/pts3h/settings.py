"""Every setting of a hasher, with its default and its reason; stored beside the model."""

from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np

from .codes import check_bits
from .errors import UserError
from .losses.names import LOSSES, Reading

Optimizer = Literal["auto", "sgd", "adamw"]
Network = Literal["teacher", "student"]

# What each loss trains well with on frozen features, measured on CIFAR-10 (docs/decisions.md).
LOSS_DEFAULTS: dict[str, dict[str, float]] = {
    "dsh": {"omega": 0.6, "gamma": 0.5, "eta": 0.004, "learning_rate": 0.15},
    "dpsh": {"omega": 0.5, "gamma": 1.0, "eta": 0.05, "learning_rate": 0.02},
    "ksh": {"omega": 0.6, "gamma": 0.5, "eta": 0.004, "learning_rate": 0.1},
    "dhn": {"omega": 0.5, "gamma": 1.0, "eta": 0.0, "learning_rate": 0.02},  # it has a rounding term itself
    "hashnet": {"omega": 0.5, "gamma": 0.5, "eta": 0.0, "learning_rate": 0.1},
    "mihash": {"omega": 0.5, "gamma": 0.5, "eta": 0.0, "learning_rate": 0.3},
}

# pixels a side that networks with much pooling need
SMALLEST = {"alexnet": 63, "vgg16": 32}


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of a hasher. ``None`` means: chosen by the loss or by the data, see :meth:`resolved`."""

    bits: int = 64
    """Code length."""
    loss: str = "dsh"
    """Pairwise loss: dsh, dpsh, ksh, dhn, hashnet or mihash."""
    seed: int = 0
    """Of everything random: the same seed and data give the same model on the same machine."""

    omega: float | None = None
    """Weight of the unlabelled terms; 0 is supervised training."""
    gamma: float | None = None
    """Weight of the quantized similarity loss within them; 0 is variant P."""
    eta: float | None = None
    """Weight of the quantization loss, which pulls outputs towards -1 and +1."""
    consistency: bool = True
    """Whether the consistent similarity loss takes part; off is variant Q."""
    alpha: float | None = None
    """How much the teacher keeps of itself each step. The paper's 0.995 is for tens of thousands of steps;
    None takes a window of a fiftieth of the run, at most that."""
    similar_share: float | None = None
    """rho, the share of unknown pairs taken for alike; None takes the share among the known pairs."""
    pseudo: Reading = "auto"
    """How the pairwise loss reads normalised outputs: "code" scales them to code space, "literal" not."""
    divide: bool = True
    """Divide the supervised loss by bits (DSH) or bits² (KSH), so that omega fits every code length."""

    labelled_per_batch: int = 32
    unlabelled_per_batch: int = 96
    """1 : 3 images make 1 : 15 pairs, the paper's ratio."""
    steps: int | None = None
    """Optimiser steps; None takes ``epochs``, or 1000 on vectors and frozen features (fewer of few items)."""
    epochs: float | None = None
    """Passes over the unlabelled items, instead of ``steps``; None takes ``steps``, or 5 for fine-tuning."""
    optimizer: Optimizer = "auto"
    """"sgd" with momentum, or "adamw"; auto is SGD on frozen features and AdamW for fine-tuning."""
    learning_rate: float | None = None
    """Of the hash layer and the hidden layer."""
    backbone_rate: float = 0.1
    """Learning rate of the backbone, as a share of ``learning_rate``."""
    momentum: float = 0.9
    weight_decay: float = 5e-4
    warmup: float = 0.1
    """Share of the steps over which the learning rate grows."""
    lead: float = 0.0
    """Share of the steps before unlabelled items join: they cost little, and the teacher knows more then."""
    ramp: float = 0.3
    """Share of the steps over which omega grows, after ``lead`` (the paper: about 5 epochs of 60)."""

    backbone: str = "auto"
    """Image network: auto, efficientnet-lite0 or -lite2, alexnet, vgg16, small, timm:..., torchvision:..."""
    weights: str = "pretrained"
    """"pretrained", "random", or a weight file."""
    freeze: bool | None = None
    """Compute the backbone's features once, train only what is above. None: yes, unless it is untrained."""
    warm_start: bool | None = None
    """Fine-tuning starts from a head trained on frozen features. None: yes, unless it is untrained."""
    fixed_norm: bool | None = None
    """Fine-tuning keeps the backbone's BatchNorm statistics. None: yes, unless the backbone is untrained."""
    hidden: int | None = None
    """Width of the hidden layer; 0 for none. None: 512, or none behind AlexNet and VGG."""
    dropout: float = 0.1
    """Of the hidden layer."""
    image_size: int | None = None
    """Pixels a side; None: three times the pictures' own, between 96 and 224."""
    code_size: int | None = None
    """Pixels a side when a fine-tuned network codes pictures; None: ``image_size``. Random crops enlarge what
    is in a picture, so that coding at a third more than training gains."""
    mirror: bool = False
    """Whether a fine-tuned network codes a picture by its output and that of its mirror image together."""
    views: int = 3
    """Perturbed copies of each picture in the feature cache."""
    crop: float = 0.5
    """Smallest share of a picture's area that a random crop keeps."""
    flip: float = 0.5
    """Probability of mirroring a picture."""
    jitter: float = 0.2
    """Strength of random brightness, contrast and saturation."""
    noise: float | None = None
    """Gaussian noise on vectors, in units of their spread; None: 0.2 for embeddings, 0 for cached views."""
    drop: float | None = None
    """Share of a vector's entries dropped; None: 0.1 for embeddings, 0 for cached views."""
    device: str = "auto"
    """"cpu", "cuda", ...; auto takes a GPU where there is one."""

    def __post_init__(self) -> None:
        check_bits(self.bits)
        for field in fields(self):
            check_kind(field.name, getattr(self, field.name), field.type)
        if self.loss not in LOSSES:
            raise UserError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        choices = {"pseudo": ("auto", "code", "literal"), "optimizer": ("auto", "sgd", "adamw")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UserError(f"{name} must be between {low:g} and {high:g}, got {value!r}")
        if self.steps is not None and self.epochs is not None:
            raise UserError("give steps or epochs, not both")

    def resolved(
        self, *, images: bool, side: int = 0, count: int | None = None, labelled: int = 0
    ) -> "Config":
        """The same settings with every ``None`` filled in, but for what depends on the known pairs.

        Args:
            images: whether the items are images.
            side: typical short side of the images, in pixels.
            count: how many items there are; None for many.
            labelled: how many of them are labelled; thousands take more steps.
        """
        backbone = ("efficientnet-lite0" if self.backbone == "auto" else self.backbone) if images else "none"
        trained = images and self.weights != "random" and backbone != "small"
        freeze = trained if self.freeze is None else self.freeze
        fine_tuning = images and not freeze
        defaults: dict[str, Any] = {
            **LOSS_DEFAULTS[self.loss],
            "freeze": freeze,
            "warm_start": trained,
            "fixed_norm": trained,
            "hidden": 0 if backbone in ("alexnet", "vgg16") else 512,
            "image_size": min(224, max(96, 3 * side // 32 * 32)) if images else 0,
            "noise": 0.0 if images else 0.2,
            "drop": 0.0 if images else 0.1,
        }
        defaults["learning_rate"] = 1e-3 if fine_tuning else head_rate(self.loss, self.bits)
        if self.steps is None and self.epochs is None:
            passes = 13 if self.omega == 0 else 26
            steps = head_steps(count, passes * labelled // self.labelled_per_batch)
            defaults |= {"epochs": 5.0} if fine_tuning else {"steps": steps}
        chosen = {name: value for name, value in defaults.items() if getattr(self, name) is None}
        optimizer = ("adamw" if fine_tuning else "sgd") if self.optimizer == "auto" else self.optimizer
        resolved = replace(self, backbone=backbone, optimizer=optimizer, **chosen)
        if resolved.code_size is None:
            resolved = replace(resolved, code_size=resolved.image_size)
        smallest = SMALLEST.get(backbone, 8)
        for name in ("image_size", "code_size"):
            size = getattr(resolved, name)
            if images and size is not None and size < smallest:
                raise UserError(f"{name} must be at least {smallest} for {backbone}, got {size}")
        if not fine_tuning and (resolved.code_size != resolved.image_size or self.mirror):
            raise UserError("code_size and mirror are for fine-tuned networks: leave them out, or fine-tune")
        return resolved

    def for_frozen_head(self) -> "Config":
        """The settings of the first stage of fine-tuning: a head on frozen features."""
        rate = head_rate(self.loss, self.bits)
        return replace(
            self,
            freeze=True,
            optimizer="sgd",
            learning_rate=rate,
            steps=1000,
            epochs=None,
            alpha=None,
            lead=0.0,
        )

    def with_settings(self, settings: dict[str, Any]) -> "Config":
        """The same settings but for these."""
        return replace(self, **settings)

    def to_json(self) -> dict[str, Any]:
        """As a plain dictionary."""
        return asdict(self)

    @classmethod
    def from_keywords(cls, keywords: dict[str, Any]) -> "Config":
        """From keyword arguments; an unknown one is answered with the nearest that exists."""
        names = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in names:
                near = get_close_matches(name, names, n=1)
                hint = f": did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
                raise UserError(f"there is no setting {name!r}{hint}")
        plain = {n: value.item() if isinstance(value, np.generic) else value for n, value in keywords.items()}
        return cls(**plain)


def check_kind(name: str, value: Any, annotation: Any) -> None:
    """Refuse text where a number belongs, and the like; what a Literal allows is checked elsewhere."""
    kinds = [kind for kind in get_args(annotation) or (annotation,) if isinstance(kind, type)]
    if float in kinds:
        kinds.append(int)
    if kinds and (type(value) not in kinds):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        raise UserError(f"{name} must be {words[kinds[0]]}, got {value!r}")


def head_rate(loss: str, bits: int) -> float:
    """Learning rate of SGD on frozen features.

    KSH is of fourth degree, and the fewer bits the steeper: at 12 of them 0.05 still trained, 0.1 did not.
    """
    rate = LOSS_DEFAULTS[loss]["learning_rate"]
    return rate * (bits / 48) ** 0.75 if loss == "ksh" and bits < 48 else rate


def head_steps(count: int | None, for_labelled: int) -> int:
    """1000, but no more than a hundred passes: more would drive a small collection into few codes.

    Thousands of labelled items take up to 4000 steps ``for_labelled``: 13 passes over them where nothing else
    is learned from, 26 where unlabelled items keep the network from learning them by heart. With 4,000
    labelled images of CIFAR-10, MAP on a thousand held-out ones was .692 for DSH and .694 for PTS3H-DSH after
    13 passes, .673 and .707 after 32 (docs/decisions.md).
    """
    least = 1000 if count is None else min(1000, max(300, 100 * count // 128))
    return max(least, min(4000, for_labelled))


RANGES: dict[str, tuple[float, float]] = {
    "omega": (0, 1e6),
    "gamma": (0, 1e6),
    "eta": (0, 1e6),
    "alpha": (0, 1),
    "similar_share": (0, 1),
    "labelled_per_batch": (2, 1e6),
    "unlabelled_per_batch": (0, 1e6),
    "steps": (1, 1e9),
    "epochs": (0, 1e9),
    "learning_rate": (0, 1e3),
    "backbone_rate": (0, 1e3),
    "momentum": (0, 1),
    "weight_decay": (0, 1),
    "warmup": (0, 1),
    "lead": (0, 1),
    "ramp": (0, 1),
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
