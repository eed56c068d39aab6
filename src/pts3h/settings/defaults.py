"""Defaults: what is used where nothing is asked for. Settings says why."""

from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..nets.backbones.table import BackboneRow
from ..unsupervised.share import USUAL
from .asked import Settings

if TYPE_CHECKING:  # what encodes reads settings, and knows no pairs
    from ..data.known_pairs import KnownPairs

NO_BACKBONE = "none"
HEAD_STEPS = 1000
LOOK_BITS = 0
CLASSES = 0.5
LARGEST_ALPHA = 0.995  # the paper's

# what holds for every loss and every kind of item; Settings says why
DEFAULTS: dict[str, Any] = {
    "look_bits": LOOK_BITS,
    "consistency": True,
    "divide": True,
    "unlabelled_per_batch": 96,
    "momentum": 0.9,
    "weight_decay": 5e-4,
    "clip": 0.0,
    "warmup": 0.1,
    "lead": 0.0,
    "ramp": 0.3,
    "dropout": 0.1,
    "classes": 0.0,
    "precision": "float32",
    "compile": False,
}
CLIP_FOR_PAIRS = 0.075  # about the median step of DSH: a longer one comes of few pairs by chance
# settings that models of earlier versions do not name, at the values that those versions had
ADDED_LATER: dict[str, Any] = {
    "look_bits": 0,
    "neighbours": 0.0,
    "fade": 0.0,
    "classes": 0.0,
    "clip": 0.0,
    "fixed_blocks": 0,
    "precision": "float32",
    "compile": False,
}
FOR_NO_FINE_TUNING: dict[str, Any] = {
    "warm_start": False,
    "fixed_blocks": 0,
    "fixed_norm": False,
    "backbone_rate": 0.0,
}
FOR_VECTORS: dict[str, Any] = {
    **FOR_NO_FINE_TUNING,
    "backbone": NO_BACKBONE,
    "weights": NO_BACKBONE,
    "freeze": True,
    "hidden": 512,
    "image_size": 0,
    "mirror": False,
    "views": 0,
    "crop": 1.0,
    "flip": 0.0,
    "jitter": 0.0,
    "noise": 0.2,
    "drop": 0.1,
}
FOR_PICTURES: dict[str, Any] = {
    "fixed_blocks": 0,
    "backbone_rate": 0.1,
    "mirror": False,
    "views": 3,
    "crop": 0.5,
    "flip": 0.5,
    "jitter": 0.2,
    "noise": 0.0,
    "drop": 0.0,
}


def known_defaults(known: "KnownPairs") -> dict[str, Any]:
    """What depends on what is known. A share that is not known yet is estimated once there are features."""
    chosen = {"neighbours": 1.0, "ramp": 0.1}  # neighbours need no time to learn, as the teacher does
    if known.labels is not None:
        return {**chosen, "fade": 0.7, "similar_share": known.similar_share}
    chosen |= {"fade": 0.0, "similar_share": USUAL}
    # without a known pair there is nothing to cut the similarities by, and nothing to wait for
    return {**chosen, "clip": CLIP_FOR_PAIRS} if known.units else {**chosen, "gamma": 0.0, "ramp": 0.0}


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


def head_steps(count: int, for_labelled: int, for_pool: int = 0) -> int:
    """1000, but no more than a hundred passes: more would drive a small collection into few codes.

    Thousands of labelled items take up to 4000 steps ``for_labelled``: 13 passes over them where nothing else
    is learned from, 26 where unlabelled items keep the network from learning them by heart. With 4,000
    labelled images of CIFAR-10, MAP on a thousand held-out ones was .692 for DSH and .694 for PTS3H-DSH after
    13 passes, .673 and .707 after 32 (docs/decisions.md).

    Tens of thousands of items take up to 2000 steps ``for_pool`` where neighbours teach: three passes.
    """
    return max(min(1000, max(300, 100 * count // 128)), min(4000, for_labelled), min(2000, for_pool))


def window_alpha(steps: int) -> float:
    """A window of a fiftieth of the run, at most the paper's alpha."""
    return min(LARGEST_ALPHA, 1 - 50 / max(steps, 51))
