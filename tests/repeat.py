"""Do things twice and print the names of those that came out differently: python -m tests.repeat WHAT."""

import os
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import numpy as np
import torch

from pts3h.data.images import ImageArray
from pts3h.data.views import ImageViews
from pts3h.evaluation import evaluate
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.feature_cache import FrozenBackbone
from pts3h.systems.deep import DeepSystem
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from tests.systems.problems import make_label_training

STEPS, BITS = 30, 12


def systems() -> Iterator[tuple[str, bytes]]:
    """Real outputs, not only their signs, of every system."""
    for system in SYSTEMS:
        training = make_label_training()
        settings = {"steps": STEPS} if isinstance(system, DeepSystem) else {}
        outputs, _ = system.fit(Task(training, BITS, settings=settings)).outputs(training.items)
        yield system.name, outputs.tobytes()


def features() -> Iterator[tuple[str, bytes]]:
    """Frozen features of pictures and perturbed copies, computed afresh."""
    pixels = np.random.default_rng(0).integers(0, 256, (70, 32, 32, 3), np.uint8)
    for name in ("efficientnet-lite0", "small"):
        torch.manual_seed(0)
        backbone = FrozenBackbone(build_backbone(name, weights="random")[0], name=name)
        with TemporaryDirectory() as folder:
            os.environ["PTS3H_CACHE"] = folder
            made = backbone.cached(ImageArray(pixels), size=64, copies=1, views=ImageViews(), progress=False)
            yield name, made.array.tobytes()


def figures() -> Iterator[tuple[str, bytes]]:
    """Metrics over codes with many ties, by every order."""
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (2000, 2), np.uint8), rng.integers(0, 7, 2000)
    for order in ("expected", "stable", "optimistic", "pessimistic"):
        report = evaluate(codes[:300], codes, labels=(labels[:300], labels), bits=16, order=order)
        recall, precision = report.pr_curve()
        yield order, np.concatenate([report.average_precisions(), recall, precision]).tobytes()


if __name__ == "__main__":
    make = {"systems": systems, "features": features, "figures": figures}[sys.argv[1]]
    for (name, first), (_, second) in zip(make(), make(), strict=True):
        if first != second:
            print(name)
