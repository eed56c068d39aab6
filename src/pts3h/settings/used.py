"""What is used: every setting with its value, nothing left open. The model card and checkpoints show this."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

from ..codes import DEFAULT_WEIGHT, Layout, check_bits
from ..losses.table import LOSSES, Reading
from .asked import check_kind
from .defaults import ADDED_LATER, HEAD_STEPS, NO_BACKBONE, window_alpha


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
    classes: float
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
    clip: float
    warmup: float
    lead: float
    ramp: float
    backbone: str
    weights: str
    freeze: bool
    warm_start: bool
    fixed_blocks: int
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
    precision: Literal["float32", "bfloat16"]
    compile: bool

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
    def keeps_features(self) -> bool:
        """Whether something is computed once of each picture and its copies, and kept."""
        return self.freeze or self.warm_start or self.fixed_blocks > 0

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


def neutral(used: Used) -> Used:
    """The same with idle settings at their neutral values: the card shows nothing that did not act."""
    changes: dict[str, Any] = {}
    if used.optimizer == "adamw" and not used.warm_start:
        changes |= {"momentum": 0.0, "clip": 0.0}
    if not used.keeps_features:
        changes["views"] = 0
    if not used.hidden:
        changes["dropout"] = 0.0
    if not used.learns_from_unlabelled:
        changes |= {"lead": 0.0, "ramp": 0.0, "unlabelled_per_batch": 0, "neighbours": 0.0, "classes": 0.0}
    if not used.guided:
        changes["fade"] = 0.0
    return replace(used, **changes)
