"""An image network in two parts does what the whole does, and only the upper one learns."""

import pytest
import torch

from pts3h import UserError
from pts3h.nets.backbones.efficientnet import ConvNorm, lite0
from pts3h.nets.backbones.parts import LowerPart, UpperPart
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.layout import channels_last

SIZE = 32
IMAGES = torch.rand(4, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def whole():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = channels_last(lite0())
        for module in net.modules():
            if isinstance(module, torch.nn.BatchNorm2d):  # as after training: no norm is the identity
                module.running_mean.uniform_(-0.2, 0.2)
                module.running_var.uniform_(0.5, 1.5)
    return net.eval()


@pytest.mark.parametrize("blocks", [1, 8, 12, 16])
def test_both_parts_are_the_whole(whole, blocks):
    lower = LowerPart(whole, blocks, SIZE)
    with torch.no_grad():
        rows = lower(IMAGES)
        expected = whole(IMAGES)
    assert rows.shape == (4, lower.width)
    torch.testing.assert_close(UpperPart(whole, lower)(rows), expected, rtol=1e-4, atol=1e-5)


def test_to_make_a_lower_part_changes_nothing(whole):
    whole.train()
    before = {name: value.clone() for name, value in whole.state_dict().items()}
    LowerPart(whole, 8, SIZE)(IMAGES)
    assert whole.training and all(
        torch.equal(value, before[name]) for name, value in whole.state_dict().items()
    )


def test_a_row_is_an_image_of_maps_pixel_by_pixel(whole):
    lower = LowerPart(whole, 8, SIZE)
    with torch.no_grad():
        maps = whole.blocks[:8](whole.stem((IMAGES - whole.mean) / whole.std))
    torch.testing.assert_close(lower(IMAGES).view(4, 2, 2, 80).movedim(3, 1), maps)


def test_what_learns(whole):
    """Of what is above, all but the 5 x 5 filters of single channels and their scales."""
    upper = UpperPart(whole, LowerPart(whole, 8, SIZE))
    wide = {
        id(weight)
        for module in whole.modules()
        if isinstance(module, ConvNorm) and module.conv.groups > 1 and module.conv.kernel_size == (5, 5)
        for weight in (module.conv.weight, module.norm.weight)
    }
    above = {id(weight) for part in (whole.blocks[8:], whole.head) for weight in part.parameters()}
    assert wide & above
    assert {id(weight) for weight in upper.parameters() if weight.requires_grad} == above - wide


def test_gradients_are_those_of_the_whole(whole):
    """Where filters are fixed, their bias is added apart, which is another way to the same numbers."""
    whole(IMAGES).square().sum().backward()
    expected = {name: weight.grad.clone() for name, weight in whole.named_parameters()}
    whole.zero_grad()
    lower = LowerPart(whole, 8, SIZE)
    rows = lower(IMAGES).detach()
    UpperPart(whole, lower)(rows).square().sum().backward()
    learned = {name: weight.grad for name, weight in whole.named_parameters() if weight.requires_grad}
    assert len(learned) > 20
    for name, gradient in learned.items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-3, atol=1e-5, msg=name)


def test_blocks_that_are_not_there(whole):
    with pytest.raises(UserError, match="between 1 and 16 here, got 17"):
        LowerPart(whole, 17, SIZE)
    with pytest.raises(UserError, match=r"SmallConv has no blocks .* leave out fixed_blocks"):
        LowerPart(SmallConv(), 1, SIZE)
