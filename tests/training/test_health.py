"""Signs that training goes wrong."""

import math
import warnings

import pytest
import torch

from pts3h import CollapseWarning, Diverged
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
    with pytest.warns(CollapseWarning, match="100% of the codes are the same"):
        train(run)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number(loss):
    with pytest.raises(Diverged, match=f"became {loss} at step 7: lower learning_rate .now 0.15.") as caught:
        check_finite({"step": 7, "loss": loss}, make_used())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("outputs", "bits", "collapsed"),
    [
        (torch.full((32, 12), 0.009), 12, "outputs shrank to 0.009 at step 50: .* raise eta .now 0.004"),
        (torch.ones(32, 12), 12, "100% of the codes are the same at step 50: lower omega .now 0.6"),
        (torch.cat([torch.ones(17, 12), torch.randn(15, 12)]), 12, "5[0-9]% of the codes are the same"),
        (torch.cat([torch.ones(16, 12), -torch.ones(16, 12)]), 12, None),  # half of them is not most
        (torch.ones(15, 12), 12, None),  # too few to say
        (torch.ones(32, 4), 4, None),  # codes of few bits are the same by chance
        (torch.randn(32, 12, generator=torch.Generator().manual_seed(0)), 12, None),
    ],
)
def test_a_collapse(outputs, bits, collapsed):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert warn_of_collapse(outputs, 50, make_used(bits=bits)) == (collapsed is not None)
    assert [one.category for one in said] == [CollapseWarning] * (collapsed is not None)
    if collapsed:
        with pytest.raises(CollapseWarning, match=collapsed):
            warn_of_collapse(outputs, 50, make_used(bits=bits))


def test_it_is_said_once_per_run():
    run = make_run(steps=150, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
        run.student.hash.bias.fill_(1.0)
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning) as said:
        train(run)
    assert len(said) == 1 and "at step 50" in str(said[0].message)
