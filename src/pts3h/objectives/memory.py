"""Codes of the labelled items that an objective infers for itself now and then, and the network is taught."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from ..data.images import Positions


class CodeMemory:
    """The last output of every labelled item, and the code inferred from all of them together.

    Args:
        labelled: positions of the labelled items, ascending.
        bits: code length.
        steps: length of the run.
        rounds: about how many times in it codes are inferred anew, once a pass at most.
    """

    def __init__(self, labelled: Positions, bits: int, steps: int, rounds: int = 20) -> None:
        self.labelled = labelled
        self.outputs = torch.zeros(len(labelled), bits)
        self.codes = torch.zeros(len(labelled), bits)
        self.seen = torch.zeros(len(labelled), dtype=torch.bool)
        self.pause = max(steps // rounds, 1)
        self._since, self._fresh = 0, 0

    def rows(self, positions: Positions) -> Tensor:
        """Where the labelled items at ``positions`` stand."""
        return torch.from_numpy(np.searchsorted(self.labelled, positions))

    def remember(self, positions: Positions, outputs: Tensor) -> None:
        """Store the outputs of a step."""
        rows = self.rows(positions)
        self.outputs[rows] = outputs.detach().to(self.outputs)
        self.seen[rows] = True
        self._since += 1
        self._fresh += len(rows)

    @property
    def due(self) -> bool:
        """Whether a pass over the items, and the pause, are over since codes were last inferred."""
        return self._since >= self.pause and self._fresh >= len(self.labelled)

    def infer(self, solve: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Infer the codes of the items seen so far.

        Args:
            solve: (rows, their codes so far) → their new codes. The first codes are the outputs' signs.
        """
        rows = torch.nonzero(self.seen).flatten()
        codes = self.codes[rows]
        self.codes[rows] = solve(rows, torch.where(codes == 0, signs(self.outputs[rows]), codes))
        self._since = self._fresh = 0

    def pull(self, positions: Positions, outputs: Tensor) -> Tensor:
        """Mean over items and bits of (code - output)²; 0 for items whose code is not inferred yet."""
        codes = self.codes[self.rows(positions)].to(outputs)
        return ((codes - outputs).square() * codes.abs()).mean()


def signs(outputs: Tensor) -> Tensor:
    """-1 and +1, with sgn(0) = +1."""
    return torch.where(outputs >= 0, 1.0, -1.0).to(outputs)
