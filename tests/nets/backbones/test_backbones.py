"""AlexNet and VGG-16 have torchvision's names and shapes; the small net and the common part."""

import pytest
import torch
from safetensors.torch import save_file

from pts3h import UserError
from pts3h.nets.backbones.alexnet import AlexNet
from pts3h.nets.backbones.backbone import Backbone
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.backbones.vgg import VGG16

ALEXNET = {
    "features.0": (64, 3, 11, 11),
    "features.3": (192, 64, 5, 5),
    "features.6": (384, 192, 3, 3),
    "features.8": (256, 384, 3, 3),
    "features.10": (256, 256, 3, 3),
    "classifier.1": (4096, 9216),
    "classifier.4": (4096, 4096),
}
VGG = {
    "features.0": (64, 3, 3, 3),
    "features.2": (64, 64, 3, 3),
    "features.5": (128, 64, 3, 3),
    "features.7": (128, 128, 3, 3),
    "features.10": (256, 128, 3, 3),
    "features.12": (256, 256, 3, 3),
    "features.14": (256, 256, 3, 3),
    "features.17": (512, 256, 3, 3),
    "features.19": (512, 512, 3, 3),
    "features.21": (512, 512, 3, 3),
    "features.24": (512, 512, 3, 3),
    "features.26": (512, 512, 3, 3),
    "features.28": (512, 512, 3, 3),
    "classifier.0": (4096, 25088),
    "classifier.3": (4096, 4096),
}


@pytest.mark.parametrize(("make", "table"), [(AlexNet, ALEXNET), (VGG16, VGG)])
def test_names_and_shapes_are_torchvisions(make, table):
    with torch.device("meta"):
        net = make()
        features = net.eval()(torch.empty(2, 3, 224, 224))
    expected = {f"{name}.weight": shape for name, shape in table.items()}
    expected |= {f"{name}.bias": shape[:1] for name, shape in table.items()}
    assert {name: tuple(value.shape) for name, value in net.state_dict().items()} == expected
    assert features.shape == (2, 4096) and net.width == 4096


def test_layers_stand_where_torchvision_has_them():
    """What has no parameters is pinned by its position."""
    with torch.device("meta"):
        alexnet, vgg = AlexNet(), VGG16()

    def places(layers, kind):
        return [place for place, layer in enumerate(layers) if isinstance(layer, kind)]

    assert places(alexnet.features, torch.nn.MaxPool2d) == [2, 5, 12]
    assert places(alexnet.classifier, torch.nn.Dropout) == [0, 3]
    assert places(vgg.features, torch.nn.MaxPool2d) == [4, 9, 16, 23, 30]
    assert places(vgg.classifier, torch.nn.Dropout) == [2, 5]


def test_convolutions_alone_are_loaded_and_the_rest_is_named(tmp_path):
    convolutions = {}
    for name, shape in ALEXNET.items():
        if name.startswith("features"):
            convolutions |= {f"{name}.weight": torch.randn(shape), f"{name}.bias": torch.randn(shape[0])}
    save_file(convolutions | {"classifier.6.bias": torch.zeros(1000)}, tmp_path / "conv.safetensors")
    net, missing = build_backbone("alexnet", weights=str(tmp_path / "conv.safetensors"))
    assert missing == ["classifier.1.weight", "classifier.1.bias", "classifier.4.weight", "classifier.4.bias"]
    own = net.state_dict()
    assert all(torch.equal(own[name], value) for name, value in convolutions.items())


def test_small_net_from_a_file(tmp_path):
    first, missing = build_backbone("small")
    assert missing == [] and first(torch.rand(2, 3, 16, 16)).shape == (2, 256)
    save_file(first.state_dict(), tmp_path / "small.safetensors")
    second, missing = build_backbone("small", weights=str(tmp_path / "small.safetensors"))
    images = torch.rand(2, 3, 16, 16)
    assert missing == [] and torch.equal(first.eval()(images), second.eval()(images))


def test_wrong_shapes_and_other_networks_are_refused(tmp_path):
    weights = SmallConv().state_dict()
    save_file(weights | {"stages.0.weight": torch.zeros(1, 3, 3, 3)}, tmp_path / "other.safetensors")
    with pytest.raises(
        UserError, match=r"stages\.0\.weight has shape \(1, 3, 3, 3\), .* needs \(64, 3, 3, 3\)"
    ):
        build_backbone("small", weights=str(tmp_path / "other.safetensors"))
    save_file({"head": torch.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(UserError, match="it is for another one"):
        build_backbone("small", weights=str(tmp_path / "other.safetensors"))


def test_images_are_normalised_by_colour():
    class Same(Backbone):
        def extract(self, images):
            return images.flatten(1)

    net = Same(width=3, mean=(0.1, 0.2, 0.3), std=(1, 2, 4))
    images = torch.tensor([0.5, 0.6, 0.7]).view(1, 3, 1, 1)
    torch.testing.assert_close(net(images), torch.tensor([[0.4, 0.2, 0.1]]))
    assert net.state_dict() == {}  # colours are part of the code, not of the weights
    with pytest.raises(TypeError, match="Backbone does not say"):
        Backbone(width=1, mean=(0,) * 3, std=(1,) * 3)(images)
