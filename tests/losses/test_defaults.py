"""Losses without any option are those of their papers; options that do not matter change nothing."""

import math

import numpy as np
import pytest
import torch

from pts3h.losses.consistency import consistent_similarity, similarity_threshold
from pts3h.losses.dhn import DHN
from pts3h.losses.dpsh import DPSH
from pts3h.losses.dsh import DSH
from pts3h.losses.hashnet import HashNet
from pts3h.losses.ksh import KSH
from pts3h.losses.mihash import MIHash
from pts3h.losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay
from pts3h.losses.table import LOSSES, Loss

from . import oracles

BITS = 6


@pytest.fixture
def batch():
    rng = np.random.default_rng(7)
    return rng.normal(size=(7, BITS)) * 1.5, *oracles.masks(rng, 7, share=0.8)


def supervised(loss, outputs, known, similar):
    return loss.supervised(*(torch.from_numpy(array) for array in (outputs, similar, known))).item()


def test_dsh_and_ksh_are_divided_by_the_size_of_their_targets(batch):
    outputs, known, similar = batch
    dsh, ksh = (oracle(outputs, similar, known, BITS) for oracle in (oracles.dsh, oracles.ksh))
    assert supervised(DSH(BITS), *batch) == pytest.approx(dsh / BITS)
    assert supervised(KSH(BITS), *batch) == pytest.approx(ksh / BITS**2)
    row = Loss(name="x", label="X", source="", make=DSH, options=("divide", "reading"))
    assert supervised(row.build(BITS), *batch) == pytest.approx(dsh / BITS), "by the table as well"


def test_the_rounding_of_dhn_counts_once(batch):
    outputs, known, similar = batch
    members = [i for i in range(len(known)) if known[i].any()]
    rounding = np.mean([np.log(np.cosh(np.abs(outputs[i]) - 1)).mean() for i in members])
    expected = oracles.dpsh(outputs, similar, known, BITS) + rounding
    assert supervised(DHN(BITS), *batch) == pytest.approx(expected)


def test_hashnet_starts_with_a_beta_of_one(batch):
    assert HashNet(BITS).beta == HashNet(BITS).at(0).beta == 1
    assert HashNet(BITS).at(200).beta == pytest.approx(math.sqrt(2))
    later = HashNet(BITS, reading="code").at(7)
    cosine, known, similar = torch.eye(7), *(torch.from_numpy(array) for array in batch[1:])
    fresh = HashNet(BITS, reading="code").pseudo(cosine, similar, known)
    assert later.pseudo(cosine, similar, known) == fresh, "the reading stays"
    assert fresh != HashNet(BITS).pseudo(cosine, similar, known)


@pytest.mark.parametrize("kind", [DPSH, DHN, HashNet])
def test_the_similarity_of_the_paper_is_read_unless_code_space_is_asked_for(kind, batch):
    cosine, known, similar = torch.eye(7), *(torch.from_numpy(array) for array in batch[1:])
    values = {
        reading: kind(BITS, **reading_of(reading)).pseudo(cosine, similar, known).item()
        for reading in (None, "auto", "literal", "code")
    }
    assert values[None] == values["auto"] == values["literal"] != values["code"]


def reading_of(name):
    return {} if name is None else {"reading": name}


def test_mihash_is_steep_enough_for_small_fresh_outputs_to_train():
    """Its soft sign is 2 sigmoid(30 F) - 1: sure of itself at outputs of a tenth."""
    classes = torch.arange(8) % 2
    similar, known = classes[:, None] == classes[None, :], ~torch.eye(8, dtype=torch.bool)
    small = torch.where(classes[:, None] == 0, 0.1, -0.1).expand(8, BITS)
    same = MIHash(BITS).supervised(small, similar, known)
    assert same == pytest.approx(MIHash(BITS, bins=12, slope=30.0).supervised(small, similar, known).item())
    shares = 3 / 7, 4 / 7  # of seven others, those of the same class: distances tell all there is to know
    assert same == pytest.approx(sum(share * math.log(share) for share in shares), rel=1e-3)
    assert same < MIHash(BITS, slope=4.0).supervised(small, similar, known)


@pytest.mark.parametrize("similar", [True, False])
def test_one_pair_says_nothing_about_how_distance_and_similarity_go_together(similar):
    outputs, known = torch.tensor([[1.0] * BITS, [0.3] * BITS]), ~torch.eye(2, dtype=torch.bool)
    assert MIHash(BITS).supervised(outputs, known & similar, known).item() == pytest.approx(0, abs=1e-6)


def test_the_ends_of_the_ramps():
    assert consistency_ramp(0, 100) == consistency_ramp(-3, 100) == consistency_ramp(0, 0) == 0
    assert consistency_ramp(1, 1) == 1
    assert learning_rate_factor(1, 10, 0) == pytest.approx(0.5 + 0.5 * math.cos(math.pi / 10))
    assert learning_rate_factor(5, 5, 5) == 1, "all of it is warm-up"
    assert learning_rate_factor(10, 10, 0) == pytest.approx(0)
    assert learning_rate_factor(6, 6, 5) == pytest.approx(0), "one step after the warm-up is the end"
    assert teacher_decay(0, 0.9) == 0, "before the first step the teacher is the student"
    assert teacher_decay(1, 0.9) == 0.5


def test_consistency_of_one_item_and_of_two():
    assert consistent_similarity(torch.ones(1, 1), torch.ones(1, 1)).item() == 0
    cosine, teacher = (torch.tensor([[1, value], [value, 1]], dtype=torch.float64) for value in (0.25, -0.5))
    assert consistent_similarity(cosine, teacher).item() == pytest.approx((2 * 0.75) ** 2)


def test_the_threshold_of_a_teacher_that_has_a_gradient():
    cosine = torch.tensor([[1, 0.25], [0.25, 1]], requires_grad=True)
    threshold = similarity_threshold(cosine, ~torch.eye(2, dtype=torch.bool), 0.5)
    assert threshold == 2 * 0.25 - 2 and type(threshold) is float


@pytest.mark.parametrize(("share", "alike"), [(0.0, 1), (0.1, 2), (0.5, 6), (0.7, 8), (0.9, 10), (1.0, 11)])
def test_a_quantile_that_falls_on_a_value_is_that_value(share, alike):
    """Eleven pairs at eleven cosines: the shares are whole ranks, which rounding must not push up."""
    values = [place / 16 for place in range(11)]
    cosine, unknown = torch.zeros(12, 12, dtype=torch.float64), torch.zeros(12, 12, dtype=torch.bool)
    for place, value in enumerate(values, start=1):
        cosine[0, place] = cosine[place, 0] = value
        unknown[0, place] = unknown[place, 0] = True
    threshold = similarity_threshold(cosine, unknown, share)
    assert threshold == 2 * values[-alike] - 2
    assert sum(2 * value - 2 >= threshold for value in values) == alike


def test_rows_of_the_table_have_defaults_that_act():
    row = Loss(name="x", label="X", source="", make=DSH)
    assert isinstance(row.build(BITS), DSH), "without options it takes the code length alone"
    assert row.rate(12) == row.rate(48) == row.learning_rate, "not steep"
    steep = Loss(name="x", label="X", source="", make=DSH, steepness=1.0, learning_rate=0.2)
    assert steep.rate(12) == pytest.approx(0.2 * 12 / 48) and steep.rate(47) < steep.rate(48) == 0.2
    assert {row.name for row in LOSSES if row.steepness} == {"ksh"}
