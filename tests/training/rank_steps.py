"""Runs of a few steps that one process makes, or several: what each step computes, to be compared."""

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs, VectorInputs
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.problem import Problem
from pts3h.data.training_set import TrainingSet
from pts3h.data.views import ImageViews, VectorViews
from pts3h.model.networks import head_maker, whole_maker
from pts3h.nets.backbones.small import SmallConv
from pts3h.objectives import bgdh, pts3h, temp_ens
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.training.learning import learn
from tests.pictures import pictures

ITEMS, LABELLED = 30, 9
SETTINGS = {
    "bits": 12,
    "hidden": 16,
    "steps": 3,
    "dropout": 0.3,
    "labelled_per_batch": 6,
    "unlabelled_per_batch": 7,  # 13 items, which two ranks cannot share evenly
    "neighbours": 0.0,
    "ramp": 0.0,
    "optimizer": "sgd",
    "learning_rate": 0.05,
}
SMALL = {"backbone": "small", "image_size": 8}
DPSH = {"loss": "dpsh", "learning_rate": 0.02}
# (what makes the objective, settings)
CASES = {
    "vectors, DSH": (pts3h, {"classes": 0.5}),
    "vectors, DPSH": (pts3h, DPSH),
    "vectors, lead and clip": (pts3h, {"lead": 0.4, "clip": 0.01}),
    "vectors, memory": (temp_ens, {"labelled_per_batch": 9, "unlabelled_per_batch": 21}),
    "vectors, more to learn": (bgdh, {}),
    "vectors, two items": (pts3h, {"labelled_per_batch": 2, "unlabelled_per_batch": 0}),
    "pictures, DSH": (pts3h, SMALL | {"classes": 0.5}),
    "pictures, DPSH": (pts3h, SMALL | DPSH),
}
SINGLE = [case for case in CASES if case.endswith(("DSH", "DPSH"))]  # looked at in single precision too


def run(case, ranks=None, dtype=torch.float64):
    """Named tensors: figures and gradients of each step, and what student and teacher are at the end."""
    maker, changes = CASES[case]
    kinds = np.arange(ITEMS) % 3
    known = LabelPairs(np.where(np.arange(ITEMS) < LABELLED, kinds, -1))
    noise = np.random.default_rng(0).normal(size=(ITEMS, 10))
    vectors, pixels = (2 * np.eye(3, 10)[kinds] + noise).astype(np.float32), pictures(ITEMS, side=8)[0]
    training = TrainingSet(
        read_items(pixels if "backbone" in changes else vectors), known, np.arange(LABELLED, ITEMS)
    )
    used = resolve(Settings(**SETTINGS | changes), training)
    torch.manual_seed(0)
    if used.takes_pictures:
        inputs, make = ImageInputs(ImageArray(pixels), 8, ImageViews()), whole_maker(used, SmallConv())
    else:
        inputs, make = VectorInputs(vectors, VectorViews()), head_maker(used, 10)
    problem = Problem(inputs, known, training.pool)
    torch.manual_seed(0)
    objective = maker.build(problem, used)
    for weight in objective.parameters():
        weight.data = weight.data.to(dtype)
    found = dict[str, torch.Tensor]()
    steps = iter(range(1, 1 + used.steps))

    def look(optimizer, *_):
        step = next(steps)
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        for number, weight in enumerate(weights):
            if weight.grad is not None:
                found[f"step {step} gradient {number}"] = weight.grad.clone().contiguous()

    hook = register_optimizer_step_pre_hook(look)
    try:
        learned = learn(problem, used, objective, lambda: make().to(dtype), ranks=ranks, progress=False)
    finally:
        hook.remove()
    for record in learned.history:
        for name, value in record.items():
            found[f"step {record['step']} {name}"] = torch.tensor(value, dtype=torch.float64)
    for part, network in (("student", learned.student), ("teacher", learned.teacher)):
        found |= {
            f"{part} {name}": value.clone().contiguous() for name, value in network.state_dict().items()
        }
    return found
