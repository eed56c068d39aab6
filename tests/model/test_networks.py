"""The networks that the settings ask for, untrained."""

import pytest
import torch
from safetensors.torch import save_file

from pts3h import UserError
from pts3h.model.networks import head_maker, load_backbone, pick_device, whole_maker
from pts3h.nets.backbones.small import SmallConv
from tests.settings.situations import PICTURES, SMALL, used


def test_weights_that_do_not_cover_the_network_are_said(tmp_path):
    weights = {name: value for name, value in SmallConv().state_dict().items() if "stages.0" not in name}
    save_file(weights, tmp_path / "part.safetensors")
    settings = used(PICTURES, backbone="small", weights=str(tmp_path / "part.safetensors"))
    with pytest.warns(UserWarning, match=r"does not cover 1 tensors of small.*stages\.0\.weight"):
        load_backbone(settings)


def test_what_is_random_follows_the_seed_where_it_is_trained():
    """A frozen one stays as it is: all seeds share it, and so its features."""

    def first(**settings):
        return next(load_backbone(used(PICTURES, **SMALL, **settings)).parameters())

    assert torch.equal(first(seed=1), first(seed=1))
    assert not torch.equal(first(seed=1), first(seed=2))
    assert torch.equal(first(seed=1, freeze=True), first(seed=2, freeze=True))


def test_settings_reach_them():
    head = head_maker(used(bits=24, hidden=48, dropout=0.3), 7)()
    assert head.hash.weight.shape == (24, 48) and head.trunk[0].weight.shape == (48, 7)
    assert head.trunk[-1].p == 0.3 and head.backbone is None


def test_each_whole_network_has_a_backbone_of_its_own():
    settings = used(PICTURES, **SMALL)
    backbone = load_backbone(settings)
    make = whole_maker(settings, backbone)
    first, second = make(), make()
    assert len({id(net) for net in (backbone, first.backbone, second.backbone)}) == 3
    for name, value in backbone.state_dict().items():
        assert torch.equal(value, first.backbone.state_dict()[name])
    assert not first.fixed_norm


def test_devices():
    assert pick_device("cpu") == torch.device("cpu")
    with pytest.raises(UserError, match="there is no device 'abacus' here"):
        pick_device("abacus")
