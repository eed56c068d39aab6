"""What a user asks for: kinds, ranges and helpful refusals."""

import json

import numpy as np
import pytest

from pts3h import UserError
from pts3h.losses.table import LOSSES, Loss
from pts3h.nets.backbones.table import BackboneRow
from pts3h.settings.asked import RANGES, Settings, check_names


def made(**settings):
    return Settings.from_keywords(settings)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"bits": 0}, "bits must be a whole number from 1"),
        ({"bits": 12.5}, "bits must be a whole number"),
        ({"bits": True}, "bits must be a whole number"),
        ({"bits": "64"}, "bits must be a whole number"),
        ({"look_bits": -1}, "look_bits must be a whole number from 0 to 4095, got -1"),
        ({"look_bits": 0.5}, "look_bits must be a whole number, got 0.5"),
        ({"bits": 64, "look_bits": 4090}, r"a code has at most 4096 bits, got 64 \+ 4090 bits"),
        ({"loss": "triplet"}, "no loss 'triplet': choose from dsh, dpsh, ksh, dhn, hashnet, mihash"),
        ({"loss": "dpshh"}, "no loss 'dpshh': did you mean dpsh?"),
        ({"loss": 3}, "loss must be text or a Loss, got 3"),
        ({"optimizer": "adam"}, "optimizer must be one of auto, sgd, adamw"),
        ({"pseudo": "both"}, "pseudo must be one of"),
        ({"omega": -1}, "omega must be between 0 and"),
        ({"omega": float("nan")}, "omega must be between"),
        ({"omega": "much"}, "omega must be a number, got 'much'"),
        ({"alpha": 1.5}, "alpha must be between 0 and 1, got 1.5"),
        ({"steps": 0}, "steps must be between 1"),
        ({"steps": 10.5}, "steps must be a whole number"),
        ({"views": True}, "views must be a whole number"),
        ({"freeze": "no"}, "freeze must be true or false, got 'no'"),
        ({"backbone": 3}, "backbone must be text"),
        ({"backbone": "smal"}, "no backbone 'smal': did you mean small?"),
        ({"labelled_per_batch": 1}, "labelled_per_batch must be between 2"),
        ({"steps": 5, "epochs": 1}, "steps or epochs, not both"),
        ({"omga": 1}, "no setting 'omga': did you mean omega?"),
        ({"zzz": 1}, "no setting 'zzz'; there are bits, look_bits, loss"),
    ],
)
def test_refused_in_one_line(settings, match):
    with pytest.raises(UserError, match=match) as caught:
        made(**settings)
    assert "\n" not in str(caught.value)


def test_every_range_is_of_a_setting():
    check_names(RANGES)


@pytest.mark.parametrize(("name", "limits"), RANGES.items())
def test_the_ends_of_every_range_are_in_it(name, limits):
    kind = int if "int" in str(Settings.__annotations__[name]) else float
    low, high = map(kind, limits)
    for value in (low, high):
        assert getattr(made(**{name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(UserError, match=f"{name} must be between"):
            made(**{name: value})


def test_what_was_asked_for_and_back():
    settings = made(bits=48, loss="dpsh", alpha=0.99, mirror=False, omega=0.0)
    assert settings.asked() == {
        "bits": 48,
        "loss": "dpsh",
        "seed": 0,
        "omega": 0.0,
        "alpha": 0.99,
        "mirror": False,
    }
    assert Settings(**json.loads(json.dumps(settings.to_json()))) == settings


def test_rows_of_a_users_own_are_stored_by_name():
    loss = Loss(name="mine", label="Mine", source="nowhere", make="pts3h.losses.dsh:DSH")
    row = BackboneRow(name="my-net", help="mine", make="pts3h.nets.backbones.small:SmallConv")
    try:
        stored = made(loss=loss, backbone=row).to_json()
        assert (stored["loss"], stored["backbone"]) == ("mine", "my-net")
        assert LOSSES.find("mine") is loss
    finally:
        del LOSSES._rows["mine"]


def test_numpy_numbers_are_numbers():
    settings = made(bits=np.int64(24), omega=np.float32(0.5), divide=np.bool_(False))
    assert json.loads(json.dumps(settings.to_json()))["bits"] == 24
    assert settings == Settings(bits=24, omega=0.5, divide=False)
