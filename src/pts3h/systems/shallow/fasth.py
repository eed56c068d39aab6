"""FastH (Lin et al. 2014): infer each bit of the labelled items from the pairs, then teach it to trees.

Decided here: the inference climbs y'Ry from the top eigenvector by moves of whole blocks of items that want
the same sign, then of single items, where FastH cuts graphs; the trees see 128 principal components.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...unsupervised.linear import Floats, LinearCoder, mean_and_covariance, principal_directions
from .known import Known
from .ksh_kernel import signs
from .signed_pairs import Residual, Signed

COMPONENTS = 128
TREES, LEAVES, RATE = 50, 16, 0.1
SWEEPS = 5


@dataclass(frozen=True)
class Trees:
    """How many boosted trees a bit has, how many leaves each, and how much each may change."""

    count: int = TREES
    leaves: int = LEAVES
    rate: float = RATE


@dataclass(frozen=True)
class TreeCoder:
    """One boosted ensemble a bit; a constant where the inferred bit was one."""

    components: LinearCoder
    bits: list[Any]

    def __call__(self, features: Floats) -> NDArray[np.float32]:
        """(n, d) features → (n, bits) real outputs, whose signs are the code."""
        reduced = self.components(features)
        outputs = [
            np.full(len(reduced), bit) if isinstance(bit, float) else bit.decision_function(reduced)
            for bit in self.bits
        ]
        return np.stack(outputs, axis=1).astype(np.float32)


def learn_fasth(
    features: Floats, labelled: Floats, signed: Signed, bits: int, seed: int, *, trees: Trees = Trees()
) -> TreeCoder:
    """Learn from pairs.

    Args:
        features: (n, d) training items, for the principal components.
        labelled: (m, d) items of known pairs.
        signed: (m, m) what is known of them; used up.
        bits: code length.
        seed: of where the eigenvector search starts.
        trees: what each bit is taught to.
    """
    center, covariance = mean_and_covariance(features)
    components = LinearCoder(center, principal_directions(covariance, min(COMPONENTS, features.shape[1])))
    reduced = components(labelled)
    residual = Residual(signed, bits)
    ensembles = []
    for bit in range(bits):
        inferred = infer_bit(residual.matrix, seed=(seed, bit))
        ensemble = teach(reduced, inferred, seed, trees)
        # later bits mend what the trees make of this one, not what was asked of them
        learned = ensemble if isinstance(ensemble, float) else ensemble.decision_function(reduced)
        residual.take(signs(np.broadcast_to(learned, len(reduced))))
        ensembles.append(ensemble)
    return TreeCoder(components, ensembles)


def infer_bit(residual: Signed, seed: tuple[int, ...]) -> NDArray[np.float32]:
    """A bit y (m,) of -1 and +1 with a large y' residual y: no move of a block or item would raise it."""
    from scipy.sparse.linalg import eigsh

    rng = np.random.default_rng((*seed, 14))
    start = rng.standard_normal(len(residual)).astype(np.float32)
    # classes leave a matrix of few directions: ARPACK runs out of them and draws a new one, by default from
    # the system's entropy
    _, vector = eigsh(residual, k=1, which="LA", v0=start, tol=1e-3, rng=rng)
    bit = signs(vector[:, 0])
    pull = residual @ bit
    diagonal = np.diagonal(residual)
    for block in blocks(residual):
        flip(block[bit[block] != signs(np.full(1, pull[block].sum()))], bit, pull, residual)
    for _ in range(SWEEPS):
        moved = False
        for item in np.flatnonzero(bit * pull - diagonal < 0):
            if bit[item] * pull[item] < diagonal[item]:  # it may have changed since
                flip(np.array([item]), bit, pull, residual)
                moved = True
        if not moved:
            break
    return bit


def blocks(residual: Signed) -> list[NDArray[np.int64]]:
    """Every item in one block, a block being items whose pairs with its first item are alike."""
    free = np.ones(len(residual), bool)
    found = []
    for item in range(len(residual)):
        if free[item]:
            block = np.flatnonzero(free & (residual[item] > 0) | (np.arange(len(free)) == item))
            free[block] = False
            found.append(block)
    return found


def flip(items: NDArray[np.int64], bit: Signed, pull: Signed, residual: Signed) -> None:
    """Turn some items over, if that raises y' residual y; ``pull`` is residual @ bit, kept up to date."""
    if not len(items):
        return
    change = residual[:, items] @ bit[items]
    # (y - 2z)' R (y - 2z) - y'Ry = 4 (z'Rz - z'Ry) for z = y on the items
    if bit[items] @ change[items] > bit[items] @ pull[items]:
        pull -= 2 * change
        bit[items] *= -1


def teach(reduced: NDArray[np.float32], bit: NDArray[np.float32], seed: int, trees: Trees) -> Any:
    """Boosted trees for one bit, or its only value."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if len(np.unique(bit)) == 1:
        return float(bit[0])
    ensemble = HistGradientBoostingClassifier(
        max_iter=trees.count,
        max_leaf_nodes=trees.leaves,
        learning_rate=trees.rate,
        early_stopping=False,
        random_state=seed,
    )
    return ensemble.fit(reduced, bit)


def learn(
    known: Known, bits: int, seed: int, *, trees: int = TREES, leaves: int = LEAVES, rate: float = RATE
) -> TreeCoder:
    """FastH looks at all items and at the known pairs."""
    chosen = Trees(trees, leaves, rate)
    return learn_fasth(known.features, known.labelled, known.signed(), bits, seed, trees=chosen)
