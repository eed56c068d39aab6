"""Peers that train no network: ITQ and LSH of faiss, PCA of scikit-learn, spectral hashing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from peer_checkouts import checkout, import_file
from peer_given import Given, Outputs

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Unsupervised:
    """A public implementation of codes without labels.

    Attributes:
        system: what we call it.
        repository: where it is from.
        encode: items of training (n, d) and others, the code length, a seed → outputs of the others.
    """

    system: str
    repository: str
    encode: Callable[[Floats, Floats, int, int], Outputs]

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        return (0.0,)

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Outputs of the held-out items."""
        train, queries = given.clean(given.split.database), given.clean(given.split.queries)
        return {"": self.encode(train, queries, given.bits, given.split.seed)}


def faiss_itq(train: Floats, queries: Floats, bits: int, seed: int) -> Outputs:
    """Principal components of faiss and its rotation, 50 rounds; its ITQTransform would also normalise."""
    import faiss

    components, rotation = faiss.PCAMatrix(train.shape[1], bits), faiss.ITQMatrix(bits)
    rotation.seed = seed % 2**31
    components.train(train)
    rotation.train(components.apply(train))
    return np.asarray(rotation.apply(components.apply(queries)))


def faiss_lsh(train: Floats, queries: Floats, bits: int, seed: int) -> Outputs:
    """A random rotation, of centred items."""
    import faiss

    rotation = faiss.RandomRotationMatrix(train.shape[1], bits)
    rotation.init(seed % 2**31)
    return np.asarray(rotation.apply(np.ascontiguousarray(queries - train.mean(axis=0))))


def sklearn_pca(train: Floats, queries: Floats, bits: int, seed: int) -> Outputs:
    """Principal components by a singular value decomposition in double precision, rotated by chance."""
    from scipy.stats import ortho_group
    from sklearn.decomposition import PCA

    found = PCA(bits, svd_solver="full").fit(train.astype(np.float64))
    rotation = ortho_group.rvs(bits, random_state=seed)
    return np.asarray(found.transform(queries.astype(np.float64)) @ rotation)


@dataclass(frozen=True)
class Spectral:
    """TreezzZ/SH_PyTorch."""

    system: str = "sh"
    repository: str = "TreezzZ/SH_PyTorch"

    def tries(self, peers: Path, given: Given) -> Sequence[float]:
        checkout(peers, self.repository)
        return (0.0,)

    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]:
        """Signs of the held-out items."""
        folder = checkout(peers, self.repository)
        module = import_file(folder / "sh.py", ("utils", "utils.evaluate"))
        module.mean_average_precision = lambda *_: 0.0  # the measure is ours
        module.pr_curve = lambda *_: (None, None)
        if not hasattr(np, "int"):  # numpy no longer has it
            vars(np)["int"] = int
        train, queries = given.clean(given.split.database), given.clean(given.split.queries)
        sides = torch.from_numpy(train), torch.from_numpy(queries)
        nothing = torch.zeros(1)
        found = module.train(sides[0], sides[1], nothing, sides[1][:1], nothing, given.bits, "cpu", -1)
        return {"": found["qB"].numpy()}


SHALLOW: list[Unsupervised | Spectral] = [
    Unsupervised("itq", "faiss", faiss_itq),
    Unsupervised("lsh", "faiss", faiss_lsh),
    Unsupervised("pca", "scikit-learn, scipy", sklearn_pca),
    Spectral(),
]
