"""The systems that learn from plain vectors, without a network: KSH, FastH, SPLH, ITQ, SH and LSH."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ...codes import check_bits
from ...errors import UserError
from ..system import Encoder, Problem, vectors_of
from .fasth import learn_fasth
from .itq import learn_itq
from .ksh_kernel import learn_ksh
from .linear import Floats
from .lsh import learn_lsh
from .sh import learn_spectral
from .signed_pairs import Signed, signed_pairs
from .splh import learn_splh

Coder = Callable[[Floats], NDArray[np.float32]]

# all take (features, labelled, signed, bits, seed), and leave alone what they do not need
LEARNERS: dict[str, Callable[[Floats, Floats, Signed, int, int], Coder]] = {
    "ksh-kernel": learn_ksh,
    "fasth": learn_fasth,
    "splh": lambda features, labelled, signed, bits, seed: learn_splh(features, labelled, signed, bits),
    "itq": lambda features, labelled, signed, bits, seed: learn_itq(features, bits, seed),
    "sh": lambda features, labelled, signed, bits, seed: learn_spectral(features, bits),
    "lsh": lambda features, labelled, signed, bits, seed: learn_lsh(features, bits, seed),
}
UNSUPERVISED = ("itq", "sh", "lsh")


@dataclass(frozen=True)
class Shallow:
    """A system on unperturbed vectors; see :class:`~pts3h.systems.system.Method`."""

    name: str
    needs_labels: bool = False
    uses_unlabelled: bool = True

    def fit(self, problem: Problem, *, bits: int, seed: int = 0, show: bool | None = None) -> Encoder:
        """Learn from the vectors of all items that take part and from the known pairs."""
        features = vectors_of(problem.inputs, problem.members)
        labelled, signed = features[:0], np.zeros((0, 0), np.float32)
        if self.name not in UNSUPERVISED:
            labelled = vectors_of(problem.inputs, problem.known.labelled)
            signed = signed_pairs(problem.known)
        try:
            coder = LEARNERS[self.name](features, labelled, signed, check_bits(bits), seed)
        except ImportError as error:
            raise UserError(f"{self.name} needs {error.name}: pip install 'pts3h[bench]'") from error

        def outputs(clean: Tensor) -> NDArray[np.float32]:
            return coder(clean.flatten(1).numpy())

        return Encoder(outputs)


def make(name: str, settings: Mapping[str, Any]) -> Shallow:
    """A shallow system by name; it has no settings beyond code length and seed."""
    return Shallow(name)
