"""What is used: every setting with its value, nothing left open. The model card and checkpoints show this."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np

from ..codes import DEFAULT_WEIGHT, Layout, check_bits
from ..data.batches import Batches
from ..data.known_pairs import KnownPairs
from ..data.training_set import TrainingSet
from ..errors import UserError
from ..losses.table import LOSSES, Loss, Reading
from ..nets.backbones.table import BackboneRow, find_backbone
from ..unsupervised.linear import check_directions
from .asked import AUTO, Settings, check_kind
from .defaults import (
    ADDED_LATER,
    DEFAULTS,
    FOR_NO_FINE_TUNING,
    FOR_PICTURES,
    FOR_VECTORS,
    HEAD_STEPS,
    NO_BACKBONE,
    head_steps,
    known_defaults,
    picture_defaults,
    window_alpha,
)
from .rules import idle, nothing_to_do


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
    neighbours: float
    fade: float
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
    def mirrors_features(self) -> bool:
        """Whether frozen features are the mean of a picture's and its mirror image's."""
        return self.mirror and not self.fine_tunes

    @property
    def learns_from_unlabelled(self) -> bool:
        """Whether unlabelled items take part."""
        return self.omega > 0 and (self.consistency or self.gamma > 0)

    @property
    def guided(self) -> bool:
        """Whether neighbours teach."""
        return self.neighbours > 0 and self.learns_from_unlabelled

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
        used = cls(**{**ADDED_LATER, **stored})
        for field in fields(cls):
            check_kind(field.name, getattr(used, field.name), field.type)
        check_bits(used.bits)
        return used


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
    check_known(used, training.known)
    return used


def check_known(used: Used, known: KnownPairs) -> None:
    """Refuse what cannot be learned from: neighbours can stand in for what is not known, if they teach."""
    if used.guided or known.both_kinds:
        return
    if not known.units:
        what = "nothing is known of any pair"
    else:
        kind = "alike" if known.similar_share else "not alike"
        what = f"all {known.units} pairs are {kind}"
    raise UserError(
        f"{what}, and neighbours do not teach here: give pairs that are alike and pairs that are not "
        "(rows of a,b,similar), or labels; or leave out neighbours and omega, and let features be frozen"
    )


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
    chosen |= {"gamma": loss.gamma} | known_defaults(training.known)
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


def complete(chosen: dict[str, Any], settings: Settings, training: TrainingSet, loss: Loss) -> Used:
    """Fill in what depends on other choices: optimiser, rate, batches, steps, alpha, sizes."""
    asked = settings.asked()
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
    elif not training.known.units:  # the labelled items' places are free
        chosen["unlabelled_per_batch"] += (
            chosen["labelled_per_batch"] if "unlabelled_per_batch" not in asked else 0
        )
    if fine_tunes and not chosen["warm_start"] and "neighbours" not in asked:
        chosen["neighbours"] = 0.0  # an untrained network has no features to compare
    if not chosen["neighbours"] and "ramp" not in asked:
        chosen["ramp"] = DEFAULTS["ramp"]  # the teacher has to learn first
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
        changes |= {"lead": 0.0, "ramp": 0.0, "unlabelled_per_batch": 0, "neighbours": 0.0}
    if not used.guided:
        changes["fade"] = 0.0
    return replace(used, **changes)


def check_size(used: Used, backbone: BackboneRow) -> None:
    """Refuse pictures that are too small for a network with much pooling."""
    for name in ("image_size", "code_size"):
        if getattr(used, name) < backbone.smallest:
            raise UserError(
                f"{name} must be at least {backbone.smallest} for {backbone.name}, got {getattr(used, name)}"
            )
