"""The table of losses: every row builds, and what it trains well with."""

import subprocess
import sys

import pytest
import torch

from pts3h.losses.dpsh import DPSH
from pts3h.losses.dsh import DSH
from pts3h.losses.hashnet import HashNet
from pts3h.losses.ksh import KSH
from pts3h.losses.mihash import MIHash
from pts3h.losses.pairwise import PairwiseLoss
from pts3h.losses.table import LOSSES

NAMES = ["dsh", "dpsh", "ksh", "dhn", "hashnet", "mihash"]


def test_names_and_labels_are_unique():
    assert LOSSES.names() == NAMES
    assert len({row.label for row in LOSSES}) == len({row.source for row in LOSSES}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("divide", [True, False])
@pytest.mark.parametrize("reading", ["auto", "code", "literal"])
def test_every_row_builds_with_every_option(name, divide, reading):
    loss = LOSSES.find(name).build(12, divide=divide, reading=reading)
    assert isinstance(loss, PairwiseLoss)
    known = ~torch.eye(4, dtype=torch.bool)
    similar = torch.tensor([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=torch.bool)
    outputs = torch.randn(4, 12, generator=torch.Generator().manual_seed(0), requires_grad=True)
    loss.supervised(outputs, similar, known).backward()
    assert torch.isfinite(outputs.grad).all() and outputs.grad.abs().sum() > 0


def test_options_reach_the_losses_that_understand_them():
    def build(name, **options):
        return LOSSES.find(name).build(12, **options)

    assert (build("dsh").scale, build("dsh", divide=False).scale) == (12, 1)
    assert (build("ksh").scale, build("ksh", divide=False).scale) == (144, 1)
    assert build("dsh", reading="literal").pseudo_margin == 24
    assert build("ksh", reading="literal").literal and not build("ksh").literal
    assert build("dpsh", reading="code").in_code_space and build("dhn", reading="code").in_code_space
    assert build("hashnet", reading="code").reading == "code"
    understood = {row.name: set(row.options) for row in LOSSES}
    both, reading = {"divide", "reading"}, {"reading"}
    assert understood == {
        "dsh": both,
        "dpsh": reading,
        "ksh": both,
        "dhn": reading,
        "hashnet": reading,
        "mihash": set(),
    }
    kinds = [type(build(name)) for name in ("dsh", "dpsh", "ksh", "hashnet", "mihash")]
    assert kinds == [DSH, DPSH, KSH, HashNet, MIHash]


@pytest.mark.parametrize("name", NAMES)
def test_only_ksh_trains_slower_with_short_codes(name):
    row = LOSSES.find(name)
    assert row.rate(48) == row.rate(64) == row.rate(4096) == row.learning_rate
    if name == "ksh":  # of fourth degree
        assert row.rate(12) == pytest.approx(row.learning_rate * 0.25**0.75)
        assert row.rate(12) < row.rate(24) < row.rate(47) < row.rate(48)
    else:
        assert row.rate(12) == row.rate(47) == row.learning_rate


def test_only_mihash_wants_more_labelled_items_per_batch():
    batches = {row.name: (row.labelled_per_batch, row.labelled_alone) for row in LOSSES}
    assert batches == dict.fromkeys(NAMES, (32, 32)) | {"mihash": (96, 128)}


def test_listing_imports_no_torch():
    code = "import sys; from pts3h.losses.table import LOSSES; LOSSES.names(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
