"""DISH: discrete codes of the labelled items are inferred from the pairs, and the network regresses to them.

min  mean (b s_ij - <b_i, b_j>)² over known pairs + anchor |B - U|²   with B in {-1, +1}
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.inputs import Inputs
from ..data.known_pairs import KnownPairs
from ..data.problem import Problem
from ..settings.used import Used
from .memory import CodeMemory, signs
from .objective import Objective, Step, Terms

GROUP = 1500  # items whose codes are inferred together; the matrix of their pairs is in memory

Matrix = NDArray[np.float32]


class DISH(Objective):
    """The network regresses to codes that are inferred anew as its outputs get better.

    Args:
        known: what is known of pairs.
        memory: of the labelled items.
        inputs: for the first codes, random projections of the items.
        anchor: weight of |B - U|², which keeps the codes near what the network can say.
        seed: of the first codes and of the groups.
    """

    def __init__(
        self, known: KnownPairs, memory: CodeMemory, inputs: Inputs, *, anchor: float = 0.1, seed: int = 0
    ) -> None:
        self.known, self.memory, self.anchor = known, memory, anchor
        self.rng = np.random.default_rng((seed, 21))
        vectors = inputs.rows(memory.labelled)
        projection = self.rng.standard_normal((vectors.shape[1], memory.outputs.shape[1]), np.float32)
        first = torch.from_numpy((vectors - vectors.mean(axis=0)) @ projection)
        memory.remember(memory.labelled, signs(first))
        memory.infer(self.solve)

    def __call__(self, step: Step) -> Terms:
        """Compute the loss, after inferring the codes where that is due."""
        positions, outputs = step.positions[: step.labelled], step.outputs[: step.labelled]
        self.memory.remember(positions, outputs)
        if self.memory.due:
            self.memory.infer(self.solve)
        total = self.memory.pull(positions, outputs)
        return Terms(total, {"loss": total, "supervised": total})

    def solve(self, rows: Tensor, codes: Tensor) -> Tensor:
        """New codes of some rows of the memory, group by group."""
        codes, order = codes.clone(), self.rng.permutation(len(rows))
        for group in np.array_split(order, -(-len(order) // GROUP)):
            chosen = rows[torch.from_numpy(group)]
            known, similar = self.known.block(self.memory.labelled[chosen.numpy()])
            signed = np.where(known, np.where(similar, np.float32(1), np.float32(-1)), np.float32(0))
            outputs = self.memory.outputs[chosen].numpy()
            improved = infer_codes(codes[torch.from_numpy(group)].numpy(), signed, outputs, self.anchor)
            codes[torch.from_numpy(group)] = torch.from_numpy(improved)
        return codes


def infer_codes(codes: Matrix, signed: Matrix, outputs: Matrix, anchor: float) -> Matrix:
    """One sweep of coordinate descent, bit by bit and item by item; the objective never rises.

    Args:
        codes: (n, bits) of -1 and +1.
        signed: (n, n) of +1 alike, -1 not, 0 unknown; symmetric, zero diagonal.
        outputs: (n, bits) of the network.
        anchor: weight of |B - U|².
    """
    codes, bits, known = codes.copy(), codes.shape[1], np.abs(signed)
    # both terms as a mean over items: an item's pairs count as one, divided by bits as the outputs are
    scale = 1 / (bits * max(float(known.sum(1).mean()), 1.0))
    left = bits * signed - known * (codes @ codes.T)
    for bit in range(bits):
        column = codes[:, bit].copy()
        left += known * np.outer(column, column)
        pull = left @ column
        fixed = anchor * outputs[:, bit]
        for item in range(len(column)):
            # the item's own entry of ``left`` is zero, so that ``pull`` is what all others say
            wanted = 1.0 if scale * pull[item] + fixed[item] >= 0 else -1.0
            if wanted != column[item]:
                pull += (wanted - column[item]) * left[:, item]
                column[item] = wanted
        left -= known * np.outer(column, column)
        codes[:, bit] = column
    return codes


def inference_objective(codes: Matrix, signed: Matrix, outputs: Matrix, anchor: float) -> float:
    """What :func:`infer_codes` lowers."""
    bits, known = codes.shape[1], np.abs(signed)
    scale = 1 / (bits * max(float(known.sum(1).mean()), 1.0))
    pairs = np.square(known * (bits * signed - codes @ codes.T)).sum()
    return float(scale / 2 * pairs + anchor * np.square(codes - outputs).sum())


def build(problem: Problem, used: Used) -> DISH:
    """DISH learns from the known pairs alone."""
    memory = CodeMemory(problem.known.labelled, used.bits, used.steps)
    return DISH(problem.known, memory, problem.inputs, seed=used.seed)
