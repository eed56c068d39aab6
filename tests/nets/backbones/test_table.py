"""The table of backbones: every row makes what it says, and no name is special."""

import pickle
import subprocess
import sys
from importlib import import_module

import pytest
import torch

from pts3h import UserError
from pts3h.nets.backbones import weights
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.backbones.table import BACKBONES, BackboneRow, find_backbone
from pts3h.util.table import load

NAMES = ["efficientnet-lite0", "efficientnet-lite2", "alexnet", "vgg16", "small"]
EXACT = ["alexnet", "vgg16", "small"]  # one pixel less than the smallest leaves nothing to pool


def test_names_in_order():
    assert BACKBONES.names() == NAMES
    assert all(row.help and "\n" not in row.help for row in BACKBONES)


def test_listing_imports_no_torch():
    code = (
        "import sys; from pts3h.nets.backbones.table import BACKBONES, find_backbone; BACKBONES.names(); "
        "find_backbone('timm:tiny'); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_may_be_as_small_as_the_row_says(name):
    row = find_backbone(name)
    with torch.device("meta"):
        net = load(row.make)().eval()
        assert net(torch.empty(1, 3, row.smallest, row.smallest)).shape == (1, net.width)
        if name in EXACT:
            with pytest.raises(RuntimeError, match="too small"):
                net(torch.empty(1, 3, row.smallest - 1, row.smallest - 1))


def test_hidden_layers():
    """Those that end in two wide layers of their own need none above them."""
    assert {row.name: row.hidden for row in BACKBONES if row.hidden != 512} == {"alexnet": 0, "vgg16": 0}


@pytest.mark.parametrize("name", ["alexnet", "vgg16"])
def test_downloaded_weights_come_from_the_address_of_their_network(name, monkeypatch):
    row = find_backbone(name)
    module = import_module(row.make.partition(":")[0])
    asked = []

    def fetch(*arguments, sha256):
        asked.append((*arguments, sha256))
        return load(row.make)().state_dict()

    monkeypatch.setattr(weights, "fetch_weights", fetch)
    with torch.device("meta"):
        net, missing = build_backbone(name)
    assert type(net) is load(row.make) and missing == []
    assert asked == [(name, module.ADDRESS, module.SHA256)]
    file = module.ADDRESS.rsplit("/", 1)[1]
    assert file.startswith(name) and len(module.SHA256) == 64
    assert file.endswith(f"-{module.SHA256[:8]}.pth")  # torchvision puts the beginning into the name


@pytest.mark.parametrize(("wrong", "hint"), [("xyz", ", ".join(NAMES)), ("alex-net", "did you mean alexnet")])
def test_an_unknown_name(wrong, hint):
    with pytest.raises(UserError, match=hint) as caught:
        build_backbone(wrong)
    assert "timm:<model>" in str(caught.value) and "torchvision:<model>" in str(caught.value)


@pytest.mark.parametrize("name", ["timm:tiny", "torchvision:tiny.b0"])
def test_rows_of_other_libraries_are_made_on_the_fly(name):
    row = find_backbone(name)
    assert row.name == name and row.pretrained is not None and (row.smallest, row.hidden) == (8, 512)
    assert name not in BACKBONES
    sent = pickle.loads(pickle.dumps(row))  # to the processes of a benchmark
    assert sent.make.args == (name,) and not sent.make.keywords["pretrained"]
    assert sent.pretrained.args == (name,) and sent.pretrained.keywords["pretrained"]


class TestWeightsOfARow:
    """Which of a row's makers is called."""

    @pytest.fixture
    def row(self, monkeypatch):
        monkeypatch.setattr(BACKBONES, "_rows", dict(BACKBONES._rows))
        self.made = []

        def make(how):
            self.made.append(how)
            return SmallConv()

        return BackboneRow(
            name="mine", help="", make=lambda: make("random"), pretrained=lambda: make("pretrained")
        )

    @pytest.mark.parametrize("weights", ["random", "pretrained"])
    def test_by_word(self, row, weights):
        build_backbone(row, weights=weights)
        assert self.made == [weights]

    def test_a_file_goes_into_the_random_network(self, row, tmp_path):
        torch.save({"stages.0.weight": torch.zeros(64, 3, 3, 3)}, tmp_path / "w.pth")
        net, missing = build_backbone(row, weights=str(tmp_path / "w.pth"))
        assert self.made == ["random"] and not net.stages[0].weight.any()
        assert "stages.0.weight" not in missing and "stages.3.weight" in missing

    def test_something_else_than_a_backbone_is_refused(self, row):
        row = BackboneRow(name="linear", help="", make=lambda: torch.nn.Linear(2, 2))
        with pytest.raises(UserError, match="the backbone linear makes a Linear: let its class inherit"):
            build_backbone(row)
