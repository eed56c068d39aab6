"""The systems of the bench beside public implementations, on the same features, splits and measure.

python benchmarks/peers.py --peers CHECKOUTS --labels 500

CHECKOUTS holds a checkout of each repository that the table names, each in a folder of the repository's name;
KSH and MIHash are Matlab, which GNU Octave runs. ``--systems itq lsh pca`` needs none of them.

A peer's rate, and the pass after which it stops, are chosen on a split of their own (seed 1,000,000); the
figures are of the next ``--splits`` seeds. All of these seeds are never reported. Our side has its defaults
in one column, and in the next what four tries of steps and rate choose on the same split.
"""

from timing import THREADS  # isort: skip

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from peer_given import Given, Outputs, features_of
from peer_networks import DSDH, DeepHash, HashNetOfItsAuthors, InOurTraining
from peer_octave import ITQ, KSH, MIHash
from peer_shallow import SHALLOW
from pts3h.bench.sources import load_data
from pts3h.bench.summary import deviation
from pts3h.bench.tuning import SEED
from pts3h.errors import Diverged, UserError


class Peer(Protocol):
    """A public implementation of a system of ours."""

    @property
    def system(self) -> str: ...
    @property
    def repository(self) -> str: ...
    def tries(self, peers: Path, given: Given) -> Sequence[float]: ...
    def run(
        self, peers: Path, given: Given, rate: float, most_steps: int, until: str = ""
    ) -> dict[str, Outputs]: ...


DEEP_HASH = [
    DeepHash("dsh", "DSH"),
    DeepHash("dpsh", "DPSH"),
    DeepHash("dhn", "DHN"),
    DeepHash("hashnet", "HashNet"),
]
PEERS: list[Peer] = [
    *SHALLOW,
    ITQ(),
    KSH(),
    *DEEP_HASH,
    HashNetOfItsAuthors(),
    DSDH(),
    MIHash(1, 32),
    MIHash(30, 12),
    *(InOurTraining(peer) for peer in DEEP_HASH),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path("peers"), help="folder of the checkouts")
    parser.add_argument("--systems", nargs="+", help="some of them, by our names")
    parser.add_argument("--data", default="cifar10")
    parser.add_argument("--images", type=int, default=12_000)
    parser.add_argument("--labels", type=int, default=500)
    parser.add_argument("--bits", type=int, default=48)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--most-steps", type=int, default=1000, help="of a peer that trains a network")
    asked = parser.parse_args()
    torch.set_num_threads(int(THREADS))
    warnings.simplefilter("ignore")
    data = load_data(asked.data, None, None, asked.images)
    array = features_of(data, asked.labels, asked.bits)
    seeds = range(SEED, SEED + 1 + asked.splits)
    first, *others = (Given.draw(data, array, asked.labels, asked.bits, seed) for seed in seeds)
    print(f"{len(data.items):,} items, {asked.labels} labelled, {asked.bits} bits, MAP of held-out items")
    print("| system | ours | gap | ours tuned | gap | public implementation | theirs | with |")
    print(8 * "| --- " + "|")
    ours: dict[str, tuple[list[float], list[float]]] = {}
    chosen = [peer for peer in PEERS if not asked.systems or peer.system in asked.systems]
    for peer in chosen:
        peer.tries(asked.peers, first)  # says what is missing before anything is computed
    for peer in chosen:
        if peer.system not in ours:
            ours[peer.system] = our_side(peer.system, first, others)
        rate, mark = choose(peer, asked.peers, first, asked.most_steps)
        runs = [peer.run(asked.peers, given, rate, asked.most_steps, mark)[mark] for given in others]
        theirs = [given.score(outputs) for given, outputs in zip(others, runs, strict=True)]
        print(row(peer, ours[peer.system], theirs, rate, mark), flush=True)


def choose(peer: Peer, peers: Path, given: Given, most_steps: int) -> tuple[float, str]:
    """The rate, and where to stop, that score best on a split of their own."""
    tries = peer.tries(peers, given)
    if len(tries) == 1:
        return tries[0], ""
    scores: dict[tuple[float, str], float] = {}
    for rate in tries:
        try:
            found = peer.run(peers, given, rate, most_steps)
        except Diverged:
            continue
        usable = {mark: outputs for mark, outputs in found.items() if np.isfinite(outputs).all()}
        scores |= {(rate, mark): given.score(outputs) for mark, outputs in usable.items()}
    shown = ", ".join(f"{rate:g} {mark}: {score:.3f}" for (rate, mark), score in scores.items())
    print(f"<!-- {peer.system}, {peer.repository}: {shown} -->", flush=True)
    return max(scores, key=lambda setting: scores[setting])


def our_side(system: str, first: Given, others: Sequence[Given]) -> tuple[list[float], list[float]]:
    """Scores by default, and with what scored best on the first split."""
    usual = [given.ours(system, {}) for given in others]
    tries = first.our_tries(system)
    if len(tries) == 1:
        return usual, usual
    scores = [first.ours(system, one) for one in tries]
    best = tries[int(np.argmax(scores))]
    shown = ", ".join(f"{one or 'by default'}: {score:.3f}" for one, score in zip(tries, scores, strict=True))
    print(f"<!-- {system}, ours: {shown} -->", flush=True)
    return usual, [given.ours(system, best) for given in others] if best else usual


def row(
    peer: Peer, ours: tuple[list[float], list[float]], theirs: list[float], rate: float, mark: str
) -> str:
    """A line of the table."""
    cells = [peer.system]
    for side in ours:
        cells += [figure(side), figure(np.subtract(side, theirs), "+")]
    setting = f"rate {rate:g}{', ' * bool(mark)}{mark}" if rate else ""
    return "| " + " | ".join([*cells, peer.repository, figure(theirs), setting]) + " |"


def figure(values: Sequence[float] | NDArray[np.floating], sign: str = "") -> str:
    """Mean and deviation."""
    return f"{np.mean(values):{sign}.3f} ± {deviation(np.asarray(values)):.3f}"


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
