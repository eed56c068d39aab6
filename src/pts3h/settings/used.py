"""What is used: every setting with its value, nothing left open. The model card and checkpoints show this."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np

from ..codes import DEFAULT_WEIGHT, Layout
from ..data.batches import Batches
from ..data.training_set import TrainingSet
from ..errors import UserError
from ..losses.table import LOSSES, Loss, Reading
from ..nets.backbones.table import BackboneRow, find_backbone
from ..unsupervised.linear import check_directions
from .asked import AUTO, Settings
from .rules import idle, nothing_to_do

NO_BACKBONE = "none"
HEAD_STEPS = 1000
LOOK_BITS = 0
LARGEST_ALPHA = 0.995  # the paper's

# what holds for every loss and every kind of item; Settings says why
DEFAULTS: dict[str, Any] = {
    "look_bits": LOOK_BITS,
    "consistency": True,
    "divide": True,
    "unlabelled_per_batch": 96,
    "momentum": 0.9,
    "weight_decay": 5e-4,
    "warmup": 0.1,
    "lead": 0.0,
    "ramp": 0.3,
    "dropout": 0.1,
}
FOR_NO_FINE_TUNING: dict[str, Any] = {
    "warm_start": False,
    "fixed_norm": False,
    "backbone_rate": 0.0,
    "mirror": False,
}
FOR_VECTORS: dict[str, Any] = {
    **FOR_NO_FINE_TUNING,
    "backbone": NO_BACKBONE,
    "weights": NO_BACKBONE,
    "freeze": True,
    "hidden": 512,
    "image_size": 0,
    "views": 0,
    "crop": 1.0,
    "flip": 0.0,
    "jitter": 0.0,
    "noise": 0.2,
    "drop": 0.1,
}
FOR_PICTURES: dict[str, Any] = {
    "backbone_rate": 0.1,
    "mirror": False,
    "views": 3,
    "crop": 0.5,
    "flip": 0.5,
    "jitter": 0.2,
    "noise": 0.0,
    "drop": 0.0,
}


@dataclass(frozen=True, kw_only=True)
class Used:
    """Settings with every choice made. :class:`~pts3h.settings.asked.Settings` says what each one is."""

    bits: int
    look_bits: int
    loss: str
    seed: int
    omega: float
    gamma: float
    eta: float
    consistency: bool
    alpha: float
    similar_share: float
    pseudo: Reading
    divide: bool
    labelled_per_batch: int
    unlabelled_per_batch: int
    steps: int
    optimizer: Literal["sgd", "adamw"]
    learning_rate: float
    backbone_rate: float
    momentum: float
    weight_decay: float
    warmup: float
    lead: float
    ramp: float
    backbone: str
    weights: str
    freeze: bool
    warm_start: bool
    fixed_norm: bool
    hidden: int
    dropout: float
    image_size: int
    code_size: int
    mirror: bool
    views: int
    crop: float
    flip: float
    jitter: float
    noise: float
    drop: float
    device: str

    @property
    def layout(self) -> Layout:
        """What the bits of the codes are."""
        return Layout(self.bits, self.look_bits, DEFAULT_WEIGHT)

    @property
    def takes_pictures(self) -> bool:
        """Whether the items are pictures."""
        return self.backbone != NO_BACKBONE

    @property
    def fine_tunes(self) -> bool:
        """Whether the backbone is trained too."""
        return self.takes_pictures and not self.freeze

    @property
    def learns_from_unlabelled(self) -> bool:
        """Whether unlabelled items take part."""
        return self.omega > 0 and (self.consistency or self.gamma > 0)

    @property
    def makes_pseudo_pairs(self) -> bool:
        """Whether the teacher's similarities are cut into pairs."""
        return self.omega > 0 and self.gamma > 0

    def but(self, changes: Mapping[str, Any]) -> "Used":
        """The same but for these; what cannot act any more is neutral."""
        return neutral(replace(self, **changes))

    def for_frozen_head(self) -> Self:
        """The first stage of fine-tuning: a head on frozen features."""
        return replace(
            self,
            freeze=True,
            optimizer="sgd",
            learning_rate=LOSSES.find(self.loss).rate(self.bits),
            steps=HEAD_STEPS,
            alpha=window_alpha(HEAD_STEPS),
            lead=0.0,
        )

    def to_json(self) -> dict[str, Any]:
        """As a plain dictionary."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """From what :meth:`to_json` gave; what is not a setting, or is missing, raises TypeError."""
        return cls(**stored)


def resolve(settings: Settings, training: TrainingSet, *, shared: Collection[str] = ()) -> Used:
    """Make every choice that the user left open.

    Args:
        settings: what the user asked for.
        training: what is learned from.
        shared: names of settings that were asked for on behalf of several systems: where one cannot act, it
            is set aside. Any other setting that cannot act is refused.
    """
    used, loss, backbone = choose(settings, training)
    asked = settings.asked()
    for name, why in idle(asked, used, loss).items():
        if name not in shared:
            raise UserError(nothing_to_do(name, asked[name], why))
    used = neutral(used)
    if backbone is not None:
        check_size(used, backbone)
    else:
        check_directions("look_bits", used.look_bits, np.asarray(training.items.content).shape[1])
    return used


def idle_settings(settings: Settings, training: TrainingSet) -> dict[str, str]:
    """Why a setting that was asked for cannot act, by name."""
    used, loss, _ = choose(settings, training)
    return idle(settings.asked(), used, loss)


def choose(settings: Settings, training: TrainingSet) -> tuple[Used, Loss, BackboneRow | None]:
    """Every choice, whether or not it acts; the loss; the image network, where there is one."""
    asked = settings.asked()
    loss = LOSSES.find(settings.loss)
    chosen: dict[str, Any] = {**DEFAULTS, "bits": settings.bits, "loss": loss.name, "seed": settings.seed}
    chosen |= {"pseudo": settings.pseudo, "device": settings.device, "omega": loss.omega, "eta": loss.eta}
    chosen |= {"gamma": loss.gamma, "similar_share": training.known.similar_share}
    backbone = None
    if training.items.images is None:
        chosen |= FOR_VECTORS
    else:
        backbone = find_backbone("efficientnet-lite0" if settings.backbone == AUTO else settings.backbone)
        chosen |= FOR_PICTURES | picture_defaults(settings, backbone, training.items.images.typical_side())
    names = {field.name for field in fields(Used)}
    applicable = {name: value for name, value in asked.items() if name in names and name != "loss"}
    if backbone is None:
        applicable = {name: value for name, value in applicable.items() if name not in PICTURE_SETTINGS}
    elif "backbone" in applicable:
        applicable["backbone"] = backbone.name
    return complete(chosen | applicable, settings, training, loss), loss, backbone


PICTURE_SETTINGS = frozenset(FOR_VECTORS) - {"hidden", "noise", "drop"} | {"code_size"}


def picture_defaults(settings: Settings, backbone: BackboneRow, side: int) -> dict[str, Any]:
    """What depends on the backbone and on the size of the pictures."""
    has_weights = backbone.pretrained is not None
    if settings.weights == "pretrained" and not has_weights:
        raise UserError(f"{backbone.name} has no pretrained weights: leave out weights, or name a file")
    weights = settings.weights or ("pretrained" if has_weights else "random")
    trained = weights != "random"
    return {
        "backbone": backbone.name,
        "weights": weights,
        "freeze": trained,
        "warm_start": trained,
        "fixed_norm": trained,
        "hidden": backbone.hidden,
        "image_size": min(224, max(96, 3 * side // 32 * 32)),
    }


def complete(chosen: dict[str, Any], settings: Settings, training: TrainingSet, loss: Loss) -> Used:
    """Fill in what depends on other choices: optimiser, rate, batches, steps, alpha, sizes."""
    fine_tunes = chosen["backbone"] != NO_BACKBONE and not chosen["freeze"]
    joined = chosen["omega"] > 0 and (chosen["consistency"] or chosen["gamma"] > 0)
    optimizer = "adamw" if fine_tunes else "sgd"
    late: dict[str, Any] = {
        "optimizer": optimizer if settings.optimizer == AUTO else settings.optimizer,
        "learning_rate": 1e-3 if fine_tunes else loss.rate(chosen["bits"]),
        "labelled_per_batch": loss.labelled_per_batch if joined else loss.labelled_alone,
        "code_size": chosen["image_size"],
    }
    chosen = late | chosen
    if not joined:
        chosen["unlabelled_per_batch"] = 0
    if not fine_tunes:
        chosen |= FOR_NO_FINE_TUNING | {"code_size": chosen["image_size"]}
    chosen["steps"] = count_steps(chosen, settings, training, fine_tunes=fine_tunes)
    chosen.setdefault("alpha", window_alpha(chosen["steps"]))
    return Used(**chosen)


def count_steps(
    chosen: Mapping[str, Any], settings: Settings, training: TrainingSet, *, fine_tunes: bool
) -> int:
    """Optimiser steps: those asked for, those of the epochs asked for, or what has proved enough."""
    if settings.steps is not None:
        return settings.steps
    if settings.epochs is None and not fine_tunes:
        passes = 26 if chosen["omega"] > 0 else 13
        for_labelled = passes * len(training.known.labelled) // chosen["labelled_per_batch"]
        return head_steps(len(training.members), for_labelled)
    epochs = 5.0 if settings.epochs is None else settings.epochs
    batches = Batches(
        training.known,
        training.pool,
        labelled=chosen["labelled_per_batch"],
        unlabelled=chosen["unlabelled_per_batch"],
        seed=0,
    )
    return max(round(epochs * batches.steps_per_epoch), 1)


def head_steps(count: int, for_labelled: int) -> int:
    """1000, but no more than a hundred passes: more would drive a small collection into few codes.

    Thousands of labelled items take up to 4000 steps ``for_labelled``: 13 passes over them where nothing else
    is learned from, 26 where unlabelled items keep the network from learning them by heart. With 4,000
    labelled images of CIFAR-10, MAP on a thousand held-out ones was .692 for DSH and .694 for PTS3H-DSH after
    13 passes, .673 and .707 after 32 (docs/decisions.md).
    """
    return max(min(1000, max(300, 100 * count // 128)), min(4000, for_labelled))


def window_alpha(steps: int) -> float:
    """A window of a fiftieth of the run, at most the paper's alpha."""
    return min(LARGEST_ALPHA, 1 - 50 / max(steps, 51))


def neutral(used: Used) -> Used:
    """The same with idle settings at their neutral values: the card shows nothing that did not act."""
    changes: dict[str, Any] = {}
    if used.optimizer == "adamw" and not used.warm_start:
        changes["momentum"] = 0.0
    if used.fine_tunes and not used.warm_start:
        changes["views"] = 0
    if not used.hidden:
        changes["dropout"] = 0.0
    if not used.learns_from_unlabelled:
        changes |= {"lead": 0.0, "ramp": 0.0, "unlabelled_per_batch": 0}
    return replace(used, **changes)


def check_size(used: Used, backbone: BackboneRow) -> None:
    """Refuse pictures that are too small for a network with much pooling."""
    for name in ("image_size", "code_size"):
        if getattr(used, name) < backbone.smallest:
            raise UserError(
                f"{name} must be at least {backbone.smallest} for {backbone.name}, got {getattr(used, name)}"
            )
