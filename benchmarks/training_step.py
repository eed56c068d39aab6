"""A whole training step against its bare networks: student forward and backward, teacher forward.

What is above 1 is the cost of views, batches, losses, optimiser, moving average, checks and history.

    python benchmarks/training_step.py            # cached features, then an image backbone
"""

from timing import race  # isort: skip

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pts3h.data.batches import Batches
from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs, Inputs, VectorInputs
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.problem import Problem
from pts3h.data.training_set import TrainingSet
from pts3h.data.views import ImageViews
from pts3h.model.networks import whole_maker
from pts3h.nets.backbones.efficientnet import EfficientNetLite
from pts3h.nets.hash_network import HashNetwork
from pts3h.nets.teacher import Teacher
from pts3h.objectives.pts3h import build
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.settings.used import Used
from pts3h.training.loop import Run, train
from pts3h.util.memory import keep_freed_memory

ITEMS, LABELLED, BITS = 5_000, 500, 48


def known_pairs() -> LabelPairs:
    labels = np.full(ITEMS, -1)
    labels[:LABELLED] = np.arange(LABELLED) % 10
    return LabelPairs(labels)


def make_run(inputs: Inputs, network: Callable[[], HashNetwork], used: Used) -> Run:
    problem = Problem(inputs, known_pairs(), np.arange(LABELLED, ITEMS))
    student = network()
    batches = Batches(
        problem.known,
        problem.pool,
        labelled=used.labelled_per_batch,
        unlabelled=used.unlabelled_per_batch,
        seed=0,
    )
    return Run(student, Teacher(student, network()), inputs, batches, build(problem, used), used)


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
    some = [
        run.inputs.two_views(run.batches.at(step).positions, step) for step in range(min(run.used.steps, 40))
    ]
    views = [some[step % len(some)] for step in range(run.used.steps)]
    times = race({"bare": lambda: bare(run, views), "step": lambda: train(run, progress=False)}, seconds)
    each = {name: 1e3 * value / run.used.steps for name, value in times.items()}
    ratio = times["step"] / times["bare"]
    print(f"{title:<28} bare {each['bare']:8.2f} ms   step {each['step']:8.2f} ms   {ratio:.3f}x")


def pictures() -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (ITEMS, 32, 32, 3), dtype=np.uint8)


def used_for(pixels: NDArray[np.uint8], **settings: Any) -> Used:
    training = TrainingSet(from_array(pixels), known_pairs(), np.arange(LABELLED, ITEMS))
    return resolve(Settings(bits=BITS, **settings), training)


def run_on_features(steps: int, **settings: Any) -> Run:
    """A head on cached features."""
    features = np.random.default_rng(0).random((ITEMS, 4, 1280), dtype=np.float32).astype(np.float16)
    used = used_for(pictures(), steps=steps, **settings)
    head = lambda: HashNetwork(BITS, inputs=1280, hidden=512, dropout=used.dropout)  # noqa: E731
    return make_run(VectorInputs(features), head, used)


def run_on_pictures(steps: int, **settings: Any) -> Run:
    """A whole image network."""
    pixels, sizes = pictures(), {"labelled_per_batch": 16, "unlabelled_per_batch": 48}
    used = used_for(pixels, steps=steps, freeze=False, **sizes, **settings)
    whole = whole_maker(used, EfficientNetLite("efficientnet-lite0"))
    return make_run(ImageInputs(ImageArray(pixels), used.image_size, ImageViews()), whole, used)


def main() -> None:
    keep_freed_memory()  # as whoever trains does; for both sides
    compare("cached features, 32 + 96", run_on_features(200), seconds=40)
    larger = {"labelled_per_batch": 64, "unlabelled_per_batch": 192}
    compare("cached features, 64 + 192", run_on_features(100, **larger), seconds=40)
    images = run_on_pictures(2)
    compare(f"lite0 at {images.used.image_size} px, 16 + 48", images, seconds=60)


if __name__ == "__main__":
    main()
