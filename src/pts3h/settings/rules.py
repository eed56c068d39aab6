"""Which settings can act in the situation at hand. One that cannot is refused: it would only pretend."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..losses.table import Loss

if TYPE_CHECKING:
    from .used import Used


class Rule(NamedTuple):
    """Some settings, when they act, and why not otherwise."""

    names: tuple[str, ...]
    act: "Callable[[Used, Loss], bool]"
    why: str


# how pictures are seen, whatever learns from them
OF_PICTURES = ("backbone", "weights", "image_size", "code_size", "mirror", "views", "crop", "flip", "jitter")
RULES = (
    Rule(
        ("freeze", *OF_PICTURES),
        lambda used, loss: used.takes_pictures,
        "it is for pictures, and these items are vectors",
    ),
    Rule(
        ("warm_start", "fixed_blocks", "fixed_norm", "backbone_rate"),
        lambda used, loss: used.fine_tunes,
        "it is for fine-tuned networks, and here no backbone is trained",
    ),
    Rule(
        ("noise", "drop"),
        lambda used, loss: not used.fine_tunes,
        "it is for vectors and frozen features, and this network is fine-tuned",
    ),
    Rule(
        ("views",),
        lambda used, loss: used.keeps_features,
        "it is for cached features, and this run computes none",
    ),
    Rule(
        ("momentum",),
        lambda used, loss: used.optimizer == "sgd" or used.warm_start,
        "AdamW has no momentum",
    ),
    Rule(
        ("clip",),
        lambda used, loss: used.optimizer == "sgd" or used.warm_start,
        "AdamW makes steps of its own length",
    ),
    Rule(("dropout",), lambda used, loss: used.hidden > 0, "there is no hidden layer"),
    Rule(
        ("gamma", "consistency", "neighbours", "classes", "lead", "ramp", "unlabelled_per_batch"),
        lambda used, loss: used.omega > 0,
        "omega is 0, so unlabelled items take no part",
    ),
    Rule(
        ("neighbours", "classes", "lead", "ramp", "unlabelled_per_batch"),
        lambda used, loss: used.learns_from_unlabelled,
        "consistency is off and gamma is 0, so unlabelled items take no part",
    ),
    Rule(
        ("similar_share", "pseudo"),
        lambda used, loss: used.makes_pseudo_pairs,
        "omega or gamma is 0, so there are no pseudo pairs",
    ),
    Rule(("fade",), lambda used, loss: used.guided, "neighbours do not teach, so none give way"),
    Rule(
        ("neighbours",),
        lambda used, loss: not used.fine_tunes or used.warm_start,
        "neighbours are found by frozen features, and this run computes none",
    ),
    Rule(
        ("pseudo",),
        lambda used, loss: "reading" in loss.options,
        "this loss reads normalised outputs in one way only",
    ),
    Rule(
        ("divide",),
        lambda used, loss: "divide" in loss.options,
        "this loss does not grow with the code length",
    ),
)


# A value that asks for what happens anyway is never refused: by default False and 0.
OFF = {"freeze": True, "divide": None, "consistency": None}


def idle(asked: Mapping[str, Any], used: "Used", loss: Loss) -> dict[str, str]:
    """Why a setting that was asked for cannot act, by name.

    Args:
        asked: settings by name.
        used: what came of them.
        loss: the pairwise loss.
    """
    found: dict[str, str] = {}
    for rule in RULES:
        for name in rule.names:
            value, off = asked.get(name), OFF.get(name, False)
            if value is not None and value != off and not rule.act(used, loss):
                found.setdefault(name, rule.why)
    return found


def nothing_to_do(name: str, value: Any, why: str) -> str:
    """What a user reads of a setting that cannot act."""
    return f"{name}={value!r} would do nothing here: {why}; leave it out"
