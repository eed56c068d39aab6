"""Look bits are learned once the network is trained, from the features that its head sees."""

import numpy as np

from ..data.inputs import ImageInputs
from ..data.problem import Problem
from ..model.inference import run
from ..model.networks import pick_device
from ..nets.hash_network import HashNetwork
from ..nets.look import Look
from ..settings.used import Used
from ..unsupervised.itq import learn_itq
from ..unsupervised.linear import Floats
from ..util.progress import Progress

MOST_ITEMS = 20_000  # that stand for all


def learn_look(network: HashNetwork, problem: Problem, used: Used, progress: Progress = None) -> Look | None:
    """ITQ of the unperturbed items that take part in training; None if no look bits are asked for.

    Args:
        network: trained; its backbone, where it has one, makes the features.
        problem: what was learned from.
        used: the settings.
        progress: whether to show a bar.
    """
    if not used.look_bits:
        return None
    features = member_features(network, problem, used, progress)
    return Look.of(learn_itq(features, used.look_bits, used.seed))


def member_features(network: HashNetwork, problem: Problem, used: Used, progress: Progress) -> Floats:
    """Features as encoding computes them, of a sample where there are many items."""
    members = problem.members
    if len(members) > MOST_ITEMS:
        rng = np.random.default_rng((used.seed, 13))
        members = np.sort(rng.choice(members, MOST_ITEMS, replace=False))
    if network.backbone is None or not isinstance(problem.inputs, ImageInputs):
        return problem.inputs.rows(members)
    backbone = network.backbone.to(pick_device(used.device))
    inputs = ImageInputs(problem.inputs.images, used.code_size)
    features = run(backbone, inputs, members, mirror=used.mirror, progress=progress)
    backbone.cpu()
    return features
