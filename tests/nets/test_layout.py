"""The order of weights in memory: other strides, the same numbers."""

import torch
from torch import nn

from pts3h.nets.layout import channels_last


def test_filters_lie_channels_last_and_nothing_else_changes():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.LazyLinear(5)).eval()
    images = torch.randn(2, 3, 10, 10)
    before = net(images)
    values = {name: value.clone() for name, value in net.state_dict().items()}
    assert channels_last(net) is net
    assert net[0].weight.stride() == (27, 1, 9, 3), "channels are next to each other"
    assert net[3].weight.is_contiguous()
    for name, value in net.state_dict().items():
        assert torch.equal(value, values[name])
    torch.testing.assert_close(net(images), before)
