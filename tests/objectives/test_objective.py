"""What every objective has in common, and what the semi-supervised ones share."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from pts3h import objectives
from pts3h.losses.table import LOSSES
from pts3h.objectives.objective import Objective, Terms
from pts3h.objectives.semi_supervised import SemiSupervised

from ..losses import oracles
from .steps import make_step

BITS, LABELLED, COUNT = 6, 4, 7


@dataclass(kw_only=True)
class Costly(SemiSupervised):
    """A regulariser that always costs 10."""

    def regulariser(self, step):
        return torch.tensor(10.0), {"unlabelled": 10.0}


@pytest.fixture
def batch():
    rng = np.random.default_rng(4)
    return rng.normal(size=(COUNT, BITS)), *oracles.masks(rng, LABELLED, share=0.9)


def costly(loss="dsh", **settings):
    return Costly(pairwise=LOSSES.find(loss).build(BITS), **({"omega": 0.5, "eta": 0.3} | settings))


def test_the_whole_is_supervised_plus_weighted_regulariser_plus_rounding(batch):
    outputs, known, similar = batch
    figures = costly()(make_step(outputs, known, similar, weight=0.2)).figures()
    supervised = oracles.dsh(outputs[:LABELLED], similar, known, BITS) / BITS
    rounding = oracles.quantization(outputs)
    assert figures == pytest.approx(
        {
            "loss": supervised + 0.3 * rounding + 0.5 * 0.2 * 10,
            "supervised": supervised,
            "quantization": rounding,
            "unlabelled": 10,
            "omega": 0.5 * 0.2,
        }
    )


@pytest.mark.parametrize(("omega", "weight"), [(0.0, 1.0), (0.5, 0.0)])
def test_what_has_no_weight_is_not_computed(batch, omega, weight):
    terms = costly(omega=omega)(make_step(*batch, weight=weight))
    assert terms.named.keys() == {"loss", "supervised", "quantization"}


def test_a_batch_without_labelled_items(batch):
    nothing = np.zeros((0, 0), bool)
    figures = costly()(make_step(batch[0], nothing, nothing)).figures()
    assert figures["supervised"] == 0
    assert figures["loss"] == pytest.approx(0.3 * oracles.quantization(batch[0]) + 0.5 * 10)


def test_a_loss_that_changes_with_the_step(batch):
    """HashNet sharpens: tanh(beta F) with beta = sqrt(1 + 0.005 step)."""
    outputs, known, similar = batch
    step = make_step(outputs, known, similar, number=600)
    soft = np.tanh(math.sqrt(1 + 0.005 * 600) * outputs[:LABELLED])
    pairs = oracles.pairs_of(known)
    alike = sum(bool(similar[pair]) for pair in pairs)
    expected = 0.0
    for i, j in pairs:
        u = 10 / BITS * float(soft[i] @ soft[j])
        expected += (np.logaddexp(0, u) - similar[i, j] * u) / (
            alike if similar[i, j] else len(pairs) - alike
        )
    assert costly("hashnet", omega=0.0, eta=0.0)(step).total.item() == pytest.approx(expected)


def test_figures_are_plain_numbers():
    figures = Terms(
        torch.tensor(1.0), {"loss": torch.tensor(2.5, requires_grad=True), "omega": 0.5}
    ).figures()
    assert figures == {"loss": 2.5, "omega": 0.5}
    assert all(type(value) is float for value in figures.values())


def test_the_teacher_is_read_without_a_gradient(batch):
    teacher = torch.ones(COUNT, BITS, requires_grad=True)
    taught = make_step(*batch, teacher=teacher).taught
    assert torch.equal(taught, teacher) and not taught.requires_grad
    with pytest.raises(RuntimeError, match="says needs_teacher"):
        make_step(*batch).taught  # noqa: B018


def test_an_objective_wants_nothing_by_default(batch):
    class Plain(Objective):
        def __call__(self, step):
            return Terms(step.outputs.sum(), {})

    class Taught(Plain):
        needs_teacher = True

    assert not Plain().needs_teacher and not Plain().needs_unlabelled and not Plain().parameters()
    assert Taught().needs_unlabelled, "the teacher speaks of unlabelled items"
    assert make_step(*batch).labelled == LABELLED


@pytest.mark.parametrize(
    "path", sorted(Path(objectives.__file__).parent.glob("*.py")), ids=lambda path: path.stem
)
def test_whoever_looks_at_inputs_or_runs_the_network_says_so(path):
    """Of several processes that share a batch, none has these as a whole."""
    looks = re.search(r"\bstep\.(inputs|student)\b", source := path.read_text()) is not None
    assert looks == ("needs_inputs(self) -> bool" in source and path.stem != "objective")
