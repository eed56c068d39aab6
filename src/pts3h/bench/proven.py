"""Changes of shared code that keep every figure to the bit, each with what proved it.

A change of what all figures go through makes every run old, whatever it changes. One that only reads files
sooner, or waits less, should not cost the hours of all systems. So it may have a row here, written by whoever
made it and ran the proof. A row holds for exactly the code that it names: after the next change without one,
all runs are old again.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Proof:
    """That two versions of the shared code give the same figures.

    Attributes:
        before: digest of the earlier version, as :func:`~pts3h.bench.provenance.shared_digest` has it.
        after: digest of the later version.
        commit: of the earlier version.
        command: what compared both, and prints this row.
    """

    before: str
    after: str
    commit: str
    command: str


PROOFS = (
    Proof(
        before="a1128d28d71b1e799cdb6d9c9cc99930a707096a78a930c66882a455123c3261",
        after="e467f2fbf557c34a57b28057789e1b5a30a43835ca228aa81d1cb59c159554c3",
        commit="5e119ec",
        command="python tools/same_figures.py 5e119ec",
    ),
    Proof(
        before="e467f2fbf557c34a57b28057789e1b5a30a43835ca228aa81d1cb59c159554c3",
        after="9046112d0ca6f08e88fc3c674eb1dac8e6c4f1e91fe597c0223f059e52f8d03e",
        commit="9f3dbe0",
        command="python tools/same_figures.py 9f3dbe0",
    ),
    Proof(
        before="9046112d0ca6f08e88fc3c674eb1dac8e6c4f1e91fe597c0223f059e52f8d03e",
        after="6a872bc3f72475ace129eaf7b047408aa54bd5f01c8813d16564dda1fe8a86e7",
        commit="72ade90",
        command="python tools/same_figures.py 72ade90",
    ),
    Proof(
        before="6a872bc3f72475ace129eaf7b047408aa54bd5f01c8813d16564dda1fe8a86e7",
        after="7f2956019699c632f3fd224b0df8806ab0c5593877d2d190350428199b5945b9",
        commit="6230ccc",
        command="python tools/same_figures.py 6230ccc",
    ),
    Proof(
        before="7f2956019699c632f3fd224b0df8806ab0c5593877d2d190350428199b5945b9",
        after="4c3db0c57fa07bddbdb1f78cd18029a8efdd2066b3358375b7186d1df856d920",
        commit="b1cae3d",
        command="python tools/same_figures.py b1cae3d",
    ),
)


def same_figures(shared: str, proofs: Sequence[Proof] = PROOFS) -> frozenset[str]:
    """The digest of some shared code, and of all earlier code from which proofs lead to it."""
    found, waiting = set[str](), [shared]
    while waiting:
        digest = waiting.pop()
        if digest not in found:
            found.add(digest)
            waiting += [proof.before for proof in proofs if proof.after == digest]
    return frozenset(found)
