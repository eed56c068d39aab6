"""docs/recipes/backbone.md, carried out: a backbone from outside the package."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from safetensors.torch import save_file
from torch import nn

from pts3h import Hasher, UserError
from pts3h.data.images import ImageArray
from pts3h.data.views import ImageViews
from pts3h.nets.backbones.backbone import Backbone
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.backbones.table import BACKBONES, BackboneRow, find_backbone
from pts3h.nets.feature_cache import FrozenBackbone
from tests.pictures import pictures

PAGE = Path(__file__).parents[2] / "docs" / "recipes" / "backbone.md"
MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)


class OneConvolution(Backbone):
    def __init__(self):
        super().__init__(width=16, mean=MEAN, std=STD)
        self.layer = nn.Conv2d(3, 16, 3, stride=2)

    def extract(self, images):
        return self.layer(images).relu().mean((2, 3))


ROW = BackboneRow(name="one-convolution", help="one convolution, averaged", make=OneConvolution)


@pytest.fixture(autouse=True)
def ours_alone(monkeypatch):
    """Rows that a test introduces are gone after it."""
    monkeypatch.setattr(BACKBONES, "_rows", dict(BACKBONES._rows))


def expected_features(net, pixels):
    """The same in double precision, with numpy."""
    images = (pixels.transpose(0, 3, 1, 2) / 255 - np.reshape(MEAN, (3, 1, 1))) / np.reshape(STD, (3, 1, 1))
    windows = sliding_window_view(images, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    weight, bias = (value.detach().double().numpy() for value in (net.layer.weight, net.layer.bias))
    sums = np.einsum("ncyxij,ocij->noyx", windows, weight) + bias[:, None, None]
    return sums.clip(0).mean((2, 3))


def test_built_from_its_row_and_then_by_name():
    with pytest.raises(UserError, match="there is no backbone 'one-convolution'"):
        build_backbone("one-convolution")
    for given in (ROW, "one-convolution"):
        net, missing = build_backbone(given)
        assert type(net) is OneConvolution and missing == []
    assert find_backbone("one-convolution") is ROW and BACKBONES.names()[-1] == "one-convolution"


def test_ours_keep_their_names():
    with pytest.raises(UserError, match="there is a backbone called alexnet already"):
        build_backbone(BackboneRow(name="alexnet", help="another", make=OneConvolution))


def test_weights_from_a_file(tmp_path):
    first, _ = build_backbone(ROW)
    save_file({"layer.weight": first.layer.weight.detach()}, tmp_path / "w.safetensors")
    second, missing = build_backbone(ROW, weights=str(tmp_path / "w.safetensors"))
    assert missing == ["layer.bias"] and torch.equal(first.layer.weight, second.layer.weight)


def test_frozen_features():
    net, _ = build_backbone(ROW)
    pixels, _ = pictures(70, side=16)
    frozen = FrozenBackbone(net, name=ROW.name)
    features = frozen.cached(ImageArray(pixels), size=16, copies=0, views=ImageViews()).array
    assert features.shape == (70, 1, 16)
    np.testing.assert_allclose(features[:, 0], expected_features(net, pixels), rtol=2e-3, atol=1e-4)


def test_codes_from_it_by_name(tmp_path, monkeypatch):
    ours = dict(BACKBONES._rows)
    find_backbone(ROW)
    pixels, kinds = pictures(60, side=16)
    settings = {"backbone": ROW.name, "freeze": True, "image_size": 16, "views": 0, "steps": 60, "bits": 12}
    hasher = Hasher(**settings).fit(pixels, labels=np.where(np.arange(60) < 30, kinds, -1))
    bits = np.unpackbits(hasher.encode(pixels[30:]), axis=1)[:, :12]
    distances = (bits[:, None] != bits).sum(axis=2)
    alike = kinds[30:, None] == kinds[30:]
    assert distances[alike].mean() < 1 and distances[~alike].mean() > 3

    hasher.save(tmp_path / "model")
    monkeypatch.setattr(BACKBONES, "_rows", ours)  # another program, which does not know the row yet
    with pytest.raises(UserError, match="there is no backbone 'one-convolution'"):
        Hasher.load(tmp_path / "model")
    find_backbone(ROW)
    np.testing.assert_array_equal(Hasher.load(tmp_path / "model").encode(pixels), hasher.encode(pixels))


def test_the_page_as_it_stands(capsys):
    smallest = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    exec(compile(smallest, PAGE.name, "exec"), {"__name__": "pasted"})
    assert capsys.readouterr().out == "torch.Size([2, 16])\n"
