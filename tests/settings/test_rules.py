"""A setting is used, or refused where it cannot act: none only pretends."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

import pts3h
from pts3h import UserError
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.settings.rules import RULES
from pts3h.settings.used import Used
from tests.settings.situations import COLD, PICTURES, SMALL, VECTORS, WARM, used

P, V = PICTURES, VECTORS
SUPERVISED = {"omega": 0.0}
NOTHING = {"consistency": False, "gamma": 0.0}

# (rule, setting, value, where it cannot act, where it can)
CASES = [
    (0, "backbone", "efficientnet-lite2", (V, {}), (P, {})),
    (0, "weights", "random", (V, {}), (P, {})),
    (0, "freeze", False, (V, {}), (P, {})),
    (0, "image_size", 64, (V, {}), (P, {})),
    (0, "code_size", 128, (V, {}), (P, {})),
    (0, "mirror", True, (V, {}), (P, {})),
    (0, "views", 2, (V, {}), (P, {})),
    (0, "crop", 0.7, (V, {}), (P, {})),
    (0, "flip", 0.1, (V, {}), (P, {})),
    (0, "jitter", 0.4, (V, {}), (P, WARM)),
    (1, "warm_start", True, (P, {}), (P, WARM)),
    (1, "fixed_blocks", 8, (P, {}), (P, WARM)),
    (1, "fixed_norm", True, (P, {}), (P, COLD)),
    (1, "backbone_rate", 0.5, (V, {}), (P, SMALL)),
    (2, "noise", 0.3, (P, WARM), (P, {})),
    (2, "drop", 0.3, (P, SMALL), (V, {})),
    (3, "views", 2, (P, COLD), (P, WARM)),
    (3, "views", 2, (P, COLD), (P, COLD | {"fixed_blocks": 8})),
    (4, "momentum", 0.5, (V, {"optimizer": "adamw"}), (V, {})),
    (4, "momentum", 0.5, (P, {"optimizer": "adamw"}), (P, WARM)),
    (4, "momentum", 0.5, (P, COLD), (P, COLD | {"optimizer": "sgd"})),
    (5, "clip", 0.5, (P, COLD), (P, WARM)),
    (6, "dropout", 0.3, (V, {"hidden": 0}), (V, {})),
    (6, "dropout", 0.3, (P, {"backbone": "alexnet"}), (P, {"backbone": "alexnet", "hidden": 64})),
    (7, "gamma", 0.7, (V, SUPERVISED), (V, {})),
    (7, "consistency", False, (V, SUPERVISED), (V, {})),
    (7, "lead", 0.2, (V, SUPERVISED), (V, {})),
    (7, "ramp", 0.2, (V, SUPERVISED), (V, {})),
    (7, "unlabelled_per_batch", 48, (V, SUPERVISED), (V, {})),
    (7, "neighbours", 0.5, (V, SUPERVISED), (V, {})),
    (7, "classes", 0.3, (V, SUPERVISED), (V, {})),
    (8, "neighbours", 0.5, (V, NOTHING), (V, {"gamma": 0.0})),
    (8, "classes", 0.3, (V, NOTHING), (V, {"gamma": 0.0})),
    (8, "lead", 0.2, (V, NOTHING), (V, {"gamma": 0.0})),
    (8, "ramp", 0.2, (V, NOTHING), (V, {"consistency": False})),
    (8, "unlabelled_per_batch", 48, (V, NOTHING), (V, {"gamma": 0.0})),
    (9, "similar_share", 0.2, (V, {"gamma": 0.0}), (V, {})),
    (9, "pseudo", "code", (V, SUPERVISED), (V, {})),
    (10, "fade", 0.4, (V, {"neighbours": 0.0}), (V, {})),
    (11, "neighbours", 0.5, (P, COLD), (P, WARM)),
    (12, "pseudo", "literal", (V, {"loss": "mihash"}), (V, {"loss": "hashnet"})),
    (13, "divide", False, (V, {"loss": "dpsh"}), (V, {"loss": "ksh"})),
]


def test_every_setting_of_every_rule_has_a_case():
    ruled = {(number, name) for number, rule in enumerate(RULES) for name in rule.names}
    assert {(number, name) for number, name, *_ in CASES} == ruled


@pytest.mark.parametrize(("number", "name", "value", "idle", "acting"), CASES)
def test_refused_where_it_cannot_act_and_used_where_it_can(number, name, value, idle, acting):
    training, settings = idle
    with pytest.raises(UserError) as caught:
        used(training, **settings, **{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name}={value!r} would do nothing here: ") and "\n" not in message
    assert RULES[number].why in message

    training, settings = acting
    assert getattr(used(training, **settings | {name: value}), name) == value


@pytest.mark.parametrize(("number", "name", "value", "idle", "acting"), CASES)
def test_set_aside_where_it_was_asked_for_on_behalf_of_several(number, name, value, idle, acting):
    """It is as if it had not been asked for, in what the network is trained and encodes with."""
    training, settings = idle
    asked = Settings(**settings, **{name: value})
    found = resolve(asked, training, shared={name})
    plain = resolve(Settings(**settings), training)
    shaping = ("backbone", "freeze", "warm_start", "image_size", "code_size", "mirror", "views", "steps")
    for one in (*shaping, "unlabelled_per_batch", "momentum", "dropout"):
        assert getattr(found, one) == getattr(plain, one), one


@pytest.mark.parametrize(
    ("training", "settings"),
    [
        (V, {"mirror": False, "warm_start": False, "fixed_norm": False, "freeze": True, "views": 0}),
        (V, {"backbone_rate": 0.0, "flip": 0.0, "jitter": 0.0, "backbone": "auto", "pseudo": "auto"}),
        (V, SUPERVISED | {"gamma": 0.0, "lead": 0.0, "ramp": 0.0, "unlabelled_per_batch": 0}),
        (V, SUPERVISED | {"similar_share": 0.0}),
        (V, {"hidden": 0, "dropout": 0.0}),
        (V, {"optimizer": "adamw", "momentum": 0.0}),
        (P, WARM | {"noise": 0.0, "drop": 0.0}),
        (P, {"mirror": False, "warm_start": False, "fixed_norm": False}),
        (P, COLD | {"views": 0}),
    ],
)
def test_what_is_off_anyway_may_be_said(training, settings):
    said = {name: value for name, value in settings.items() if name not in ("backbone", "pseudo")}
    found = used(training, **settings)
    assert {name: getattr(found, name) for name in said} | {"similar_share": 0} == said | {"similar_share": 0}


@pytest.mark.parametrize("field", [field.name for field in fields(Used)])
def test_every_setting_is_read_by_some_code(field):
    """Not counting where settings are resolved: what nothing else reads could only pretend."""
    source = Path(pts3h.__file__).parent
    readers = [path for path in source.rglob("*.py") if path.parent.name != "settings"]
    assert any(re.search(rf"\bused\.{field}\b", path.read_text()) for path in readers)
