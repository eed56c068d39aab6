"""Networks of other libraries, through stand-ins for them."""

import sys
from types import ModuleType

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from pts3h import UserError
from pts3h.nets.backbones.build import build_backbone


class TimmNet(nn.Module):
    """Returns the mean colour, as a network without a classifier returns pooled features."""

    default_cfg = {"mean": (0.5, 0.25, 0.0), "std": (0.5, 0.5, 2.0)}  # noqa: RUF012
    num_features = 3

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, images):
        return images.mean((2, 3)) * self.scale


@pytest.fixture
def timm(monkeypatch):
    module = ModuleType("timm")
    module.asked = []

    def create_model(name, *, pretrained, num_classes):
        module.asked.append((name, pretrained, num_classes))
        if name == "offline":
            raise OSError("no network")
        if name != "tiny":
            raise RuntimeError(f"Unknown model ({name})")
        return TimmNet()

    module.create_model = create_model
    monkeypatch.setitem(sys.modules, "timm", module)
    return module


@pytest.fixture
def torchvision(monkeypatch):
    models = ModuleType("torchvision.models")
    models.asked = []

    def get_model(name, *, weights):
        models.asked.append((name, weights))
        if name == "plain":
            return nn.Sequential(nn.Conv2d(3, 4, 1))
        if name != "tiny":
            raise ValueError(f"Unknown model {name}")
        net = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 5), nn.ReLU())
        net.classifier = nn.Sequential(nn.Dropout(), nn.Linear(5, 1000))
        return net

    models.get_model = get_model
    package = ModuleType("torchvision")
    package.models = models
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    return models


class TestTimm:
    def test_no_classifier_and_its_own_colours(self, timm):
        net, missing = build_backbone("timm:tiny")
        assert timm.asked == [("tiny", True, 0)] and missing == [] and net.width == 3
        images = torch.tensor([1.0, 0.5, 0.5]).view(1, 3, 1, 1).expand(2, 3, 4, 4)
        torch.testing.assert_close(net(images), torch.tensor([[1.0, 0.5, 0.25]] * 2))

    def test_random_weights(self, timm):
        build_backbone("timm:tiny", weights="random")
        assert timm.asked == [("tiny", False, 0)]

    def test_weights_from_a_file_have_that_librarys_names(self, timm, tmp_path):
        save_file({"scale": torch.tensor([1.0, 2.0, 3.0])}, tmp_path / "w.safetensors")
        net, missing = build_backbone("timm:tiny", weights=str(tmp_path / "w.safetensors"))
        assert timm.asked == [("tiny", False, 0)] and missing == []
        assert net.net.scale.tolist() == [1, 2, 3]

    def test_refused(self, timm, monkeypatch):
        with pytest.raises(UserError, match="timm has no model 'huge'"):
            build_backbone("timm:huge")
        with pytest.raises(UserError, match="timm cannot get the weights of 'offline'"):
            build_backbone("timm:offline")
        monkeypatch.setitem(sys.modules, "timm", None)
        with pytest.raises(UserError, match=r"pip install 'pts3h\[timm\]'"):
            build_backbone("timm:tiny")


class TestTorchvision:
    def test_the_last_layer_is_taken_off(self, torchvision):
        net, missing = build_backbone("torchvision:tiny")
        assert torchvision.asked == [("tiny", "DEFAULT")] and missing == [] and net.width == 5
        assert net.eval()(torch.rand(2, 3, 8, 8)).shape == (2, 5)

    def test_random_weights(self, torchvision):
        build_backbone("torchvision:tiny", weights="random")
        assert torchvision.asked == [("tiny", None)]

    def test_refused(self, torchvision, monkeypatch):
        with pytest.raises(UserError, match="torchvision has no model 'huge'"):
            build_backbone("torchvision:huge")
        with pytest.raises(UserError, match="no linear layer"):
            build_backbone("torchvision:plain")
        monkeypatch.setitem(sys.modules, "torchvision.models", None)
        with pytest.raises(UserError, match="pip install torchvision"):
            build_backbone("torchvision:tiny")
