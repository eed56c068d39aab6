"""The one shape of every system that is compared: a problem in, an encoder of items out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..codes import Codes, pack
from ..data.images import Positions
from ..data.inputs import Inputs
from ..data.items import Labels
from ..data.known_pairs import KnownPairs, LabelPairs
from ..errors import UserError

ENCODE_BATCH = 512


@dataclass(frozen=True)
class Problem:
    """What a method may learn from; it sees nothing else.

    Attributes:
        inputs: items as tensors, clean or perturbed.
        known: what is known of which pair: a pair list, or labels.
        pool: positions of the items that take part without a label.
    """

    inputs: Inputs
    known: KnownPairs
    pool: Positions

    @property
    def members(self) -> Positions:
        """Positions of all items that take part, ascending."""
        return np.union1d(self.known.labelled, self.pool)

    def labels(self, method: str) -> Labels:
        """Labels of all items, -1 where unknown; refused where only pairs are known."""
        if not isinstance(self.known, LabelPairs):
            raise UserError(f"{method} learns from labels, and only pairs are known here: give labels")
        return self.known.labels


@dataclass(frozen=True)
class Encoder:
    """What came out of a fit.

    Attributes:
        outputs: unperturbed inputs (n, ...) → (n, bits) numbers, whose signs are the codes.
        history: a record of named figures for each step or round of the fit, where it has any.
    """

    outputs: Callable[[Tensor], NDArray[np.float32]]
    history: list[dict[str, float]] = field(default_factory=list)

    def codes(self, inputs: Inputs, positions: Positions) -> Codes:
        """Packed codes of the items at ``positions``."""
        starts = range(0, len(positions), ENCODE_BATCH)
        parts = [self.outputs(inputs.clean(positions[at : at + ENCODE_BATCH])) for at in starts]
        return pack(np.concatenate(parts))


class Method(Protocol):
    """A system by name.

    Attributes:
        name: what tables and the command line call it, in lower case: ``pts3h-dsh``, ``itq``.
        needs_labels: whether pairs alone are not enough; such a method calls ``problem.labels(self.name)``.
        uses_unlabelled: whether it looks at the pool (semi-supervised and unsupervised systems).
    """

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def needs_labels(self) -> bool:
        """Whether pairs alone are not enough."""
        ...

    @property
    def uses_unlabelled(self) -> bool:
        """Whether it looks at the unlabelled pool."""
        ...

    def fit(self, problem: Problem, *, bits: int, seed: int = 0, show: bool | None = None) -> Encoder:
        """Learn codes of ``bits`` bits; the same seed gives the same codes on the same machine.

        Args:
            problem: what to learn from.
            bits: code length.
            seed: of everything random.
            show: whether to draw a progress bar; None asks whether anybody watches.
        """
        ...


def vectors_of(inputs: Inputs, positions: Positions) -> NDArray[np.float32]:
    """The unperturbed items at ``positions`` as rows (n, d), for methods that work on plain matrices."""
    clean = inputs.clean(positions)
    return np.asarray(clean.flatten(1).numpy(), np.float32)
