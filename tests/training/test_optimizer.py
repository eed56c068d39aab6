"""The optimiser that the settings ask for."""

import pytest
import torch

from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.hash_network import HashNetwork
from pts3h.training.optimizer import build_optimizer
from tests.settings.situations import PICTURES, SMALL, used
from tests.training.runs import make_used


def test_the_hash_layer_learns_ten_times_faster_than_the_backbone():
    network = HashNetwork(8, inputs=256, hidden=0, dropout=0.0, backbone=SmallConv())
    optimizer = build_optimizer(network, used(PICTURES, **SMALL, learning_rate=0.01))
    backbone, head = optimizer.param_groups
    assert head["lr"] == 0.01 and backbone["lr"] == pytest.approx(0.001)
    assert {id(w) for w in backbone["params"]} == {id(w) for w in network.backbone.parameters()}
    assert {id(w) for w in head["params"]} == {id(w) for w in network.hash.parameters()}


def test_what_an_objective_learns_beside_has_a_group_of_its_own():
    network = HashNetwork(8, inputs=6, hidden=4, dropout=0.0)
    beside = torch.nn.Parameter(torch.zeros(3))
    head, other = build_optimizer(network, make_used(learning_rate=0.3), [beside]).param_groups
    assert head["lr"] == other["lr"] == 0.3 and other["params"] == [beside]
    assert {id(w) for w in head["params"]} == {id(w) for w in network.parameters()}


@pytest.mark.parametrize(
    ("settings", "kind", "group"),
    [
        ({"momentum": 0.7, "weight_decay": 0.01}, torch.optim.SGD, {"momentum": 0.7, "weight_decay": 0.01}),
        ({"optimizer": "adamw", "weight_decay": 0.02}, torch.optim.AdamW, {"weight_decay": 0.02}),
    ],
)
def test_settings_reach_it(settings, kind, group):
    optimizer = build_optimizer(HashNetwork(8, inputs=6, hidden=4, dropout=0.0), make_used(**settings))
    assert type(optimizer) is kind
    assert {name: optimizer.param_groups[0][name] for name in group} == group
