"""Signs that training goes wrong."""

import math
import warnings

import numpy as np
import pytest
import torch

from pts3h import CollapseWarning, Diverged, Hasher
from pts3h.objectives.objective import Step
from pts3h.training.health import check_finite, warn_of_collapse
from pts3h.training.loop import train
from tests.training.runs import make_run, make_used


def test_divergence_stops_with_advice():
    run = make_run(hidden=0, learning_rate=900.0, steps=60, omega=0.0)
    with pytest.raises(Diverged, match="lower learning_rate"):
        train(run)


def test_collapse_to_zero_warns():
    run = make_run(steps=50, loss="dpsh", learning_rate=0.01, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning, match="outputs shrank"):
        train(run)


def test_equal_codes_warn():
    run = make_run(steps=50, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
        run.student.hash.bias.fill_(1.0)
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning, match="100% of the pairs known as not alike have the same code"):
        train(run)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number(loss):
    with pytest.raises(Diverged, match=f"became {loss} at step 7: lower learning_rate .now 0.15.") as caught:
        check_finite({"step": 7, "loss": loss}, make_used())
    assert "\n" not in str(caught.value)


NOTHING_KNOWN = torch.zeros(0, dtype=torch.long)
TWO_KINDS = torch.arange(8) % 2


def groups(*sizes, bits=12):
    """Outputs of items, so many of each code."""
    codes = torch.randn(len(sizes), bits, generator=torch.Generator().manual_seed(3)).sign()
    return codes.repeat_interleave(torch.tensor(sizes), dim=0)


def step_of(outputs, classes):
    """Step 50, where the classes of the first items are known."""
    known = ~torch.eye(len(classes), dtype=torch.bool)
    similar = known & (classes[:, None] == classes)
    nothing = torch.nn.Identity()
    return Step(50, 1.0, np.arange(len(outputs)), outputs, outputs, None, known, similar, nothing)


@pytest.mark.parametrize(
    ("outputs", "classes", "collapsed"),
    [
        (
            torch.full((32, 12), 0.009),
            TWO_KINDS,
            "outputs shrank to 0.009 at step 50: .* raise eta .now 0.004",
        ),
        (
            torch.ones(32, 12),
            TWO_KINDS,
            "100% of the pairs known as not alike .* step 50: lower omega .now 0.6",
        ),
        (torch.ones(32, 12), NOTHING_KNOWN, "100% of all pairs have the same code at step 50"),
        (groups(30, 2), NOTHING_KNOWN, "88% of all pairs"),
        (groups(16, 16), NOTHING_KNOWN, None),  # a collection of two kinds
        (groups(22, 10), NOTHING_KNOWN, None),  # and an uneven batch of it
        # one kind of three has most of the batch, and all is well
        (groups(9, 4, 3), torch.tensor([0] * 9 + [1] * 4 + [2] * 3), None),
        # of 72 pairs that are not alike, 8 or 56 have one code
        (groups(10, 7), torch.tensor([0] * 9 + [1] * 8), None),
        (groups(16, 1), torch.tensor([0] * 9 + [1] * 8), "88% of the pairs known as not alike"),
        (torch.ones(5, 12), TWO_KINDS[:5], None),  # too few to say
        (torch.ones(32, 4), TWO_KINDS, None),  # codes of few bits are the same by chance
        (torch.randn(32, 12, generator=torch.Generator().manual_seed(0)), TWO_KINDS, None),
    ],
)
def test_a_collapse(outputs, classes, collapsed):
    used = make_used(bits=outputs.shape[1])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert warn_of_collapse(step_of(outputs, classes), used) == (collapsed is not None)
    assert [one.category for one in said] == [CollapseWarning] * (collapsed is not None)
    if collapsed:
        with pytest.raises(CollapseWarning, match=collapsed):
            warn_of_collapse(step_of(outputs, classes), used)


def test_it_is_said_once_per_run():
    run = make_run(steps=150, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
        run.student.hash.bias.fill_(1.0)
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning) as said:
        train(run)
    assert len(said) == 1 and "at step 50" in str(said[0].message)


def few_pairs_of_many_kinds():
    """400 vectors of 50 kinds; 60 pairs, every other one alike."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(50), 8)
    vectors = rng.normal(size=(50, 64))[kinds] + 0.8 * rng.normal(size=(400, 64))
    pairs = {}
    while len(pairs) < 60:
        a, b = sorted(rng.choice(400, 2, replace=False).tolist())
        if (alike := int(kinds[a] == kinds[b])) == len(pairs) % 2:
            pairs[a, b] = alike
    return vectors.astype(np.float32), [(a, b, alike) for (a, b), alike in pairs.items()]


def test_few_pairs_drive_no_run_apart():
    """With a rate that no run survives, steps that are never too long still learn."""
    vectors, pairs = few_pairs_of_many_kinds()
    with pytest.raises(Diverged):
        Hasher(bits=12, steps=100, learning_rate=2, clip=0).fit(vectors, pairs=pairs, check=False)
    losses = []
    hasher = Hasher(bits=12, steps=100, learning_rate=2)
    hasher.fit(vectors, pairs=pairs, check=False, watch=lambda record: losses.append(record["loss"]))
    assert max(losses) < 3 and np.mean(losses[-20:]) < 0.8 * np.mean(losses[:20])
    assert len(np.unique(hasher.encode(vectors), axis=0)) > 50
