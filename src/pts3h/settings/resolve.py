"""From what is asked for to what is used: every choice that is left open, made by the data at hand."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..data.batches import Batches
from ..data.known_pairs import KnownPairs
from ..data.training_set import TrainingSet
from ..errors import UserError
from ..losses.table import LOSSES, Loss
from ..nets.backbones.table import BackboneRow, find_backbone
from ..unsupervised.linear import check_directions
from .asked import AUTO, Settings
from .defaults import (
    CLASSES,
    DEFAULTS,
    FOR_NO_FINE_TUNING,
    FOR_PICTURES,
    FOR_VECTORS,
    NO_BACKBONE,
    head_steps,
    known_defaults,
    picture_defaults,
    window_alpha,
)
from .rules import idle, nothing_to_do
from .used import Used, neutral


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
    if used.classes and training.known.labels is None:
        raise UserError(
            nothing_to_do("classes", used.classes, "only pairs are known, and classes need labels")
        )
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
    if chosen["neighbours"] and training.known.labels is not None and "classes" not in asked:
        chosen["classes"] = CLASSES
    if not fine_tunes:
        chosen |= FOR_NO_FINE_TUNING
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
        guided = chosen["neighbours"] > 0 and chosen["unlabelled_per_batch"] > 0
        for_pool = 3 * len(training.pool) // chosen["unlabelled_per_batch"] if guided else 0
        return head_steps(len(training.members), for_labelled, for_pool)
    epochs = 5.0 if settings.epochs is None else settings.epochs
    batches = Batches(
        training.known,
        training.pool,
        labelled=chosen["labelled_per_batch"],
        unlabelled=chosen["unlabelled_per_batch"],
        seed=0,
    )
    return max(round(epochs * batches.steps_per_epoch), 1)


def check_size(used: Used, backbone: BackboneRow) -> None:
    """Refuse pictures that are too small for a network with much pooling."""
    for name in ("image_size", "code_size"):
        if getattr(used, name) < backbone.smallest:
            raise UserError(
                f"{name} must be at least {backbone.smallest} for {backbone.name}, got {getattr(used, name)}"
            )
