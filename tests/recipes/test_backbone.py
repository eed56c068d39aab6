"""docs/recipes/backbone.md, carried out: a backbone from outside the package."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from safetensors.torch import save_file
from torch import nn

from pts3h import Hasher, UserError, load_model
from pts3h.bench.cells import read_results
from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.data.images import ImageArray
from pts3h.data.views import ImageViews
from pts3h.nets.backbones.backbone import Backbone
from pts3h.nets.backbones.build import build_backbone
from pts3h.nets.backbones.table import BACKBONES, BackboneRow, find_backbone
from pts3h.nets.feature_cache import FrozenBackbone
from tests.docs.world import make_world
from tests.pictures import pictures
from tests.recipes.pages import python_blocks

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


def test_codes_from_it(tmp_path, monkeypatch):
    ours = dict(BACKBONES._rows)
    pixels, kinds = pictures(60, side=16)
    settings = {"freeze": True, "image_size": 16, "views": 0, "steps": 60, "bits": 12}
    labels = np.where(np.arange(60) < 30, kinds, -1)
    hasher = Hasher(backbone=ROW, **settings).fit(pixels, labels=labels)
    codes = hasher.encode(pixels)
    bits = np.unpackbits(codes[30:], axis=1)[:, :12]
    distances = (bits[:, None] != bits).sum(axis=2)
    alike = kinds[30:, None] == kinds[30:]
    assert distances[alike].mean() < 1 and distances[~alike].mean() > 3
    by_name = Hasher(backbone="one-convolution", **settings).fit(pixels, labels=labels)
    np.testing.assert_array_equal(by_name.encode(pixels), codes)

    hasher.save(tmp_path / "model")
    for load in (Hasher.load, load_model):
        monkeypatch.setattr(BACKBONES, "_rows", dict(ours))  # another program, which does not know the row
        with pytest.raises(UserError, match="there is no backbone 'one-convolution'"):
            load(tmp_path / "model")
        loaded = load(tmp_path / "model", backbone=ROW)
        np.testing.assert_array_equal(np.sign(loaded.outputs(pixels)[0]), np.sign(hasher.outputs(pixels)[0]))
        assert load(tmp_path / "model").fingerprint == hasher.fingerprint, "its name is known from then on"


def test_trained_whole():
    pixels, kinds = pictures(40, side=16)
    settings = {"image_size": 16, "epochs": 1, "bits": 12, "hidden": 8}
    hasher = Hasher(backbone=ROW, **settings).fit(pixels, labels=np.where(np.arange(40) < 30, kinds, -1))
    assert hasher.used.fine_tunes and isinstance(hasher.model.networks.teacher.backbone, OneConvolution)


def test_in_the_processes_of_a_benchmark(tmp_path):
    setup = Setup("digits", images=300, settings={"backbone": ROW, "image_size": 16, "views": 0})
    assert setup.settings["backbone"] == "one-convolution", "notes hold names"
    plan = Plan(setup, methods=["lsh"], bits=[12], label_counts=[20], runs=1)
    assert run_matrix(plan, tmp_path, workers=1, progress=False) == 0
    (result,) = read_results(tmp_path)
    assert result["settings"]["backbone"] == "one-convolution" and result["settings"]["image_size"] == 16


def test_the_page_as_it_stands(tmp_path):
    make_world(tmp_path)
    program = "\n".join(python_blocks("backbone.md"))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (0, "torch.Size([2, 16])\n"), done.stderr
