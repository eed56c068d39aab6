"""The one way to run a network over many items."""

import numpy as np
import torch

from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs, VectorInputs
from pts3h.model.inference import run
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.hash_network import HashNetwork
from tests.model.models import VECTORS
from tests.pictures import pictures


def test_rows_follow_positions_and_dropout_is_off(monkeypatch):
    torch.manual_seed(0)
    network = HashNetwork(12, inputs=6, hidden=8, dropout=0.5).train()
    inputs = VectorInputs(VECTORS)
    monkeypatch.setattr(inputs, "batch", 7)
    positions = np.random.default_rng(0).permutation(40)[:23]
    found = run(network, inputs, positions, progress=False)
    with torch.no_grad():
        expected = network.eval()(torch.from_numpy(VECTORS[positions]))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32 and not network.training


def test_mirror_is_the_mean_of_a_picture_and_its_mirror_image():
    torch.manual_seed(0)
    network = HashNetwork(12, inputs=256, hidden=0, dropout=0.0, backbone=SmallConv())
    images, positions = pictures(5, side=16)[0], np.arange(5)
    turned = np.ascontiguousarray(images[:, :, ::-1])
    one, other = (
        run(network, ImageInputs(ImageArray(pixels), 16), positions, progress=False)
        for pixels in (images, turned)
    )
    both = run(network, ImageInputs(ImageArray(images), 16), positions, mirror=True, progress=False)
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-6)
    assert np.abs(one - other).max() > 1e-5


def test_no_items_have_no_outputs():
    network = HashNetwork(12, inputs=6, hidden=8, dropout=0.0)
    assert run(network, VectorInputs(VECTORS), np.empty(0, np.int64), progress=False).shape == (0, 12)
