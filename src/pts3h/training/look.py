"""Look bits are learned once the network is trained, from the features that its head sees."""

import numpy as np

from ..data.images import Positions
from ..data.inputs import ImageInputs
from ..data.problem import Problem
from ..model.inference import run
from ..model.networks import pick_device
from ..nets.hash_network import HashNetwork
from ..nets.look import Look
from ..settings.used import Used
from ..unsupervised.linear import Floats
from ..unsupervised.steady import learn_steady_bits
from ..util.progress import Progress

MOST_ITEMS = 20_000  # that stand for all
MOST_WITH_COPIES = 5_000


def learn_look(network: HashNetwork, problem: Problem, used: Used, progress: Progress = None) -> Look | None:
    """Bits that tell the items that take part from each other; None without look bits.

    Args:
        network: trained; its backbone, where it has one, makes the features.
        problem: what was learned from.
        used: the settings.
        progress: whether to show a bar.
    """
    if not used.look_bits:
        return None
    members = some_members(problem, used.seed)
    features = member_features(network, problem, members, used, progress)
    copies = problem.inputs.copies(members[:MOST_WITH_COPIES])
    return Look.of(learn_steady_bits(features, copies, used.look_bits, used.seed))


def some_members(problem: Problem, seed: int) -> Positions:
    """Items that take part in training, a sample where there are many, in no order."""
    return np.random.default_rng((seed, 13)).permutation(problem.members)[:MOST_ITEMS]


def member_features(
    network: HashNetwork, problem: Problem, members: Positions, used: Used, progress: Progress
) -> Floats:
    """Features as encoding computes them."""
    if network.backbone is None or not isinstance(problem.inputs, ImageInputs):
        return problem.inputs.rows(members)
    backbone = network.backbone.to(pick_device(used.device))
    inputs = ImageInputs(problem.inputs.images, used.code_size)
    features = run(backbone, inputs, members, mirror=used.mirror, progress=progress)
    backbone.cpu()
    return features
