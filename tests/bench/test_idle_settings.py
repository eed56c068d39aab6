"""Settings that would do nothing are refused in one line before anything runs."""

import numpy as np
import pytest

from pts3h.bench.idle_settings import refuse_idle_settings
from pts3h.bench.plan import Plan, Setup
from pts3h.errors import UserError


@pytest.fixture
def check(tmp_path):
    """Look at a plan on vectors."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(90, 5)).astype(np.float32))
    np.save(tmp_path / "y.npy", np.arange(90) % 3)

    def call(methods, settings, of=None, **more):
        setup = Setup(str(tmp_path / "x.npy"), labels=str(tmp_path / "y.npy"), settings=settings, of=of or {})
        refuse_idle_settings(Plan(setup, methods, [8], [30], 1, **more), tmp_path)

    return call


@pytest.mark.parametrize(
    ("methods", "settings", "why"),
    [
        (["dsh"], {"omega": 0.5}, "dsh always has omega=0.0"),
        (["dsh", "pts3h-dsh"], {"loss": "dpsh"}, "always has loss='dsh'"),
        (["dsh", "dpsh"], {"similar_share": 0.1}, "omega or gamma is 0"),
        (["dsh", "itq"], {"image_size": 64}, "these items are vectors"),
        (["itq", "lsh"], {"hidden": 8}, "itq has no such setting"),
        (["dsh"], {"bits": 16}, "always has bits=8"),
        (["pts3h-dsh"], {"seed": 3}, "always has seed=0"),
    ],
)
def test_a_shared_setting_that_acts_in_none(check, methods, settings, why):
    (name,) = settings
    with pytest.raises(UserError) as refused:
        check(methods, settings)
    said = str(refused.value)
    assert said.startswith(f"{name}=") and "would do nothing in any of the chosen systems" in said
    assert why in said and "\n" not in said


@pytest.mark.parametrize(
    ("methods", "settings"),
    [
        (["dsh", "pts3h-dsh"], {"omega": 0.5}),
        (["itq", "dsh"], {"hidden": 8, "steps": 5}),
        (["pts3h-p", "pts3h-q"], {"similar_share": 0.1}),
        (["dsh"], {"omega": 0.0, "mirror": False, "bits": 8}),
        (["lsh"], {}),
    ],
)
def test_one_that_acts_somewhere_or_asks_for_what_happens_anyway(check, methods, settings):
    check(methods, settings)


@pytest.mark.parametrize(
    ("method", "own", "why"),
    [
        ("dsh", {"omega": 0.5}, "dsh always has omega=0.0"),
        ("dsh", {"lead": 0.1}, "omega is 0"),
        ("itq", {"steps": 5}, "itq has no such setting"),
        ("itq", {"backbone": "small"}, "these items are vectors"),
    ],
)
def test_a_setting_of_one_system_that_cannot_act_there(check, method, own, why):
    (name,) = own
    with pytest.raises(UserError) as refused:
        check(["pts3h-dsh", "dsh", "itq"], {}, of={method: own})
    said = str(refused.value)
    assert said.startswith(f"{name}=") and "would do nothing here" in said and why in said


def test_sensitivity_may_idle_what_the_user_set(check):
    """With omega at 0 neither gamma nor rho can act; that is what the curve is for."""
    own = {"gamma": 0.4, "ramp": 0.2}
    check(["pts3h-dsh"], {"unlabelled_per_batch": 8}, of={"pts3h-dsh": own}, sensitivity=True)
