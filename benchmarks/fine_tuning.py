"""Images a second that a network trains on: student forward and backward, teacher forward.

One side has its norms apart and the usual layout; ours folds fixed norms into the filters, channels last.
Then the upper part of a network alone, on kept maps of its fixed lower blocks, against the whole.

    PTS3H_THREADS=2 python benchmarks/fine_tuning.py
"""

from timing import race  # isort: skip

from functools import partial
from unittest.mock import patch

import torch
from torch import Tensor

from pts3h.nets.backbones.backbone import Backbone
from pts3h.nets.backbones.efficientnet import ConvNorm, EfficientNetLite
from pts3h.nets.backbones.parts import LowerPart, UpperPart
from pts3h.nets.layout import channels_last

BATCH = 64
BLOCKS = (5, 8, 12)  # of 16


def train_on(student: Backbone, teacher: Backbone, images: Tensor) -> None:
    outputs = student(images)
    outputs.backward(torch.ones_like(outputs))
    student.zero_grad()
    with torch.no_grad():
        teacher(images)


def train_apart(student: Backbone, teacher: Backbone, images: Tensor) -> None:
    with patch.object(ConvNorm, "_has_fixed_norm", lambda layer: False):
        train_on(student, teacher, images)


def make() -> EfficientNetLite:
    return EfficientNetLite("efficientnet-lite0").eval()


def main() -> None:
    plain, ours = (make(), make()), (channels_last(make()), channels_last(make()))
    for side in (64, 96):
        images = torch.rand(BATCH, 3, side, side)
        sides = {"apart": partial(train_apart, *plain, images), "ours": partial(train_on, *ours, images)}
        times = race(sides)
        rates = {name: BATCH / seconds for name, seconds in times.items()}
        gain = times["apart"] / times["ours"]
        print(f"{side} px: {rates['apart']:.0f} images/s apart, {rates['ours']:.0f} ours, {gain:.2f}x")
    for blocks in BLOCKS:
        lower = LowerPart(make(), blocks, side)
        upper = UpperPart(channels_last(make()), lower), UpperPart(channels_last(make()), lower)
        rows = torch.rand(BATCH, lower.width)
        times = race({"whole": partial(train_on, *ours, images), "upper": partial(train_on, *upper, rows)})
        rate, gain = BATCH / times["upper"], times["whole"] / times["upper"]
        print(f"{side} px, {blocks} blocks fixed: {rate:.0f} images/s, {gain:.2f}x of the whole")


if __name__ == "__main__":
    main()
