"""A whole training step against its bare networks: student forward and backward, teacher forward.

What is above 1 is the cost of views, batches, losses, optimiser, moving average, checks and history.

    python benchmarks/training_step.py            # cached features, then an image backbone
"""

from timing import race  # isort: skip

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pts3h.data.batches import Batches
from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs, Inputs, VectorInputs
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.views import ImageViews, VectorViews
from pts3h.nets.backbones.efficientnet import EfficientNetLite
from pts3h.nets.hash_network import HashNetwork
from pts3h.nets.teacher import Teacher
from pts3h.settings import Config
from pts3h.training.learning import build_objective
from pts3h.training.loop import Run, train
from pts3h.training.preparation import whole_maker

ITEMS, LABELLED, BITS = 5_000, 500, 48


def make_run(inputs: Inputs, network: Callable[[], HashNetwork], config: Config, steps: int) -> Run:
    labels = np.full(ITEMS, -1)
    labels[:LABELLED] = np.arange(LABELLED) % 10
    known = LabelPairs(labels)
    student = network()
    batches = Batches(
        known,
        np.arange(LABELLED, ITEMS),
        labelled=config.labelled_per_batch,
        unlabelled=config.unlabelled_per_batch,
        seed=0,
    )
    teacher = Teacher(student, network())
    return Run(student, teacher, inputs, batches, build_objective(config, known), config, steps)


def bare(run: Run, views: list[tuple[Tensor, Tensor]]) -> None:
    student, teacher = run.student.train(), run.teacher.network.train()
    for view_1, view_2 in views:
        outputs = student(view_1)
        with torch.no_grad():
            teacher(view_2)
        outputs.backward(torch.ones_like(outputs))
        for weight in student.parameters():
            weight.grad = None


def compare(title: str, run: Run, seconds: float) -> None:
    # forty batches in turn are enough to keep the bare side from finding its input in the cache
    some = [run.inputs.two_views(run.batches.at(step).positions, step) for step in range(min(run.steps, 40))]
    views = [some[step % len(some)] for step in range(run.steps)]
    times = race({"bare": lambda: bare(run, views), "step": lambda: train(run, show=False)}, seconds)
    each = {name: 1e3 * value / run.steps for name, value in times.items()}
    ratio = times["step"] / times["bare"]
    print(f"{title:<28} bare {each['bare']:8.2f} ms   step {each['step']:8.2f} ms   {ratio:.3f}x")


def main() -> None:
    rng = np.random.default_rng(0)
    features: NDArray[np.float16] = rng.random((ITEMS, 4, 1280), dtype=np.float32).astype(np.float16)
    config = Config(bits=BITS).resolved(images=True, side=32)
    inputs = VectorInputs(features, VectorViews(config.noise or 0, config.drop or 0))
    head = lambda: HashNetwork(BITS, inputs=1280, hidden=512, dropout=config.dropout)  # noqa: E731
    compare("cached features, 32 + 96", make_run(inputs, head, config, steps=200), seconds=40)

    pixels = ImageArray(rng.integers(0, 256, (ITEMS, 32, 32, 3), dtype=np.uint8))
    larger = replace(config, labelled_per_batch=64, unlabelled_per_batch=192)
    compare("cached features, 64 + 192", make_run(inputs, head, larger, steps=100), seconds=40)

    config = Config(bits=BITS, freeze=False).resolved(images=True, side=32)
    config = replace(config, labelled_per_batch=16, unlabelled_per_batch=48)

    whole = whole_maker(config, EfficientNetLite("efficientnet-lite0"))
    assert config.image_size is not None
    images = ImageInputs(pixels, config.image_size, ImageViews())
    compare(f"lite0 at {config.image_size} px, 16 + 48", make_run(images, whole, config, steps=2), seconds=60)


if __name__ == "__main__":
    main()
