"""Deep Supervised Discrete Hashing (Li et al., NIPS 2017): codes must also tell the classes, linearly.

min  likelihood(U) + mu |Y - B W|² + nu |W|² + eta |B - U|²   with B in {-1, +1}
"""

import torch
from torch import Tensor

from ..data.items import Labels
from ..data.problem import Problem
from ..losses.pairwise import PairwiseLoss
from ..settings.used import Used
from .class_targets import class_targets
from .memory import CodeMemory
from .objective import Objective, Step, Terms
from .semi_supervised import base_loss

ROUNDS = 150  # as the published training solves for codes


class DSDH(Objective):
    """The network learns the pairs and follows B; B and W are solved for in turn, B bit by bit.

    Args:
        pairwise: the likelihood of DPSH.
        labels: of all items, -1 where unknown.
        memory: of the labelled items.
        mu: weight of the classification of the codes.
        nu: weight of the size of W.
        eta: weight of the distance from outputs to codes (mean over items and bits).
    """

    def __init__(
        self,
        pairwise: PairwiseLoss,
        labels: Labels,
        memory: CodeMemory,
        *,
        mu: float = 1.0,
        nu: float = 0.1,
        eta: float = 1.0,
    ) -> None:
        self.pairwise, self.memory = pairwise, memory
        self.mu, self.nu, self.eta = mu, nu, eta
        self.targets = class_targets(labels)[torch.from_numpy(memory.labelled)]

    def __call__(self, step: Step) -> Terms:
        """Compute the loss, after solving for the codes where that is due."""
        positions, outputs = step.positions[: step.labelled], step.outputs[: step.labelled]
        self.memory.remember(positions, outputs)
        if self.memory.due:
            self.memory.infer(self.solve)
        supervised = self.pairwise.supervised(outputs, step.similar, step.known)
        pull = self.memory.pull(positions, outputs)
        total = supervised + self.eta * pull
        return Terms(total, {"loss": total, "supervised": supervised, "pull": pull})

    def solve(self, rows: Tensor, codes: Tensor) -> Tensor:
        """New codes of some rows of the memory."""
        targets, outputs = self.targets[rows], self.memory.outputs[rows]
        classifier = ridge(codes, targets, self.nu / self.mu)
        return descend(codes, classifier, targets, outputs, mu=self.mu, eta=self.eta)


def ridge(codes: Tensor, targets: Tensor, nu: float) -> Tensor:
    """W (bits, classes) that minimises |Y - B W|² + nu |W|²."""
    gram = codes.T @ codes + nu * torch.eye(codes.shape[1], dtype=codes.dtype)
    solution: Tensor = torch.linalg.solve(gram, codes.T @ targets)
    return solution


def descend(
    codes: Tensor,
    classifier: Tensor,
    targets: Tensor,
    outputs: Tensor,
    *,
    mu: float,
    eta: float,
    sweeps: int = 3,
) -> Tensor:
    """Discrete cyclic coordinate descent on mu |Y - B W|² + eta |B - U|²: each bit at its best, in turn."""
    codes = codes.clone()
    wanted = mu * targets @ classifier.T + eta * outputs
    overlap = mu * classifier @ classifier.T
    overlap.fill_diagonal_(0)
    for _ in range(sweeps):
        before = codes.clone()
        for bit in range(codes.shape[1]):
            pull = wanted[:, bit] - codes @ overlap[bit]
            codes[:, bit] = torch.where(pull == 0, codes[:, bit], torch.sign(pull))
        if torch.equal(before, codes):
            break
    return codes


def build(problem: Problem, used: Used) -> DSDH:
    """DSDH; eta weighs the distance of outputs and codes."""
    memory = CodeMemory(problem.known.labelled, used.bits, used.steps, ROUNDS)
    return DSDH(base_loss(used), problem.labels("dsdh"), memory, eta=used.eta)
