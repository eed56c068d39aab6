"""The ONNX file of a model gives torch's codes, and is not written if it would not."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from safetensors.numpy import load_file

from pts3h import Hasher, UserError, load_model
from pts3h.data.items import read_items
from pts3h.model import onnx_export
from pts3h.model.onnx_check import agree, check_answers, sample_items
from pts3h.model.onnx_export import export_onnx
from pts3h.nets.backbones.backbone import Backbone
from pts3h.nets.backbones.table import BACKBONES, BackboneRow
from tests.model.exported import KINDS, PICTURES, made
from tests.model.models import SMALL, VECTORS, fitted

# one feature that is rounded to the next half float moves an output so far, beside the largest
ROUNDED = 2e-3


def by_torch(model, items):
    return model.networks.run(read_items(items), "teacher", keep=False, progress=False)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_torchs(kind, exported):
    model, (items, _) = load_model(exported(kind)), KINDS[kind]
    expected = by_torch(model, items)
    largest = np.abs(expected).max()
    assert expected.shape[1] == model.bits and np.ptp(expected, axis=0).max() > 0.01 * largest
    for count in (1, 7, 40):
        found = model.runner.run(read_items(items[:count]), "teacher", keep=False, progress=False)[0]
        tolerance = ROUNDED if kind.startswith("frozen") else 1e-5
        np.testing.assert_allclose(found, expected[:count], rtol=0, atol=tolerance * largest)
    np.testing.assert_array_equal(model.outputs(items[:7])[0], found[:7, :12])


def test_a_head_is_what_the_formula_says(exported):
    folder = exported("vectors")
    w = {name: tensor.astype(np.float64) for name, tensor in load_file(folder / "model.safetensors").items()}
    hidden = (VECTORS - w["teacher.center"]) / w["teacher.scale"] @ w["teacher.trunk.0.weight"].T
    spread = np.sqrt(w["teacher.trunk.1.running_var"] + 1e-5)
    hidden = (hidden - w["teacher.trunk.1.running_mean"]) / spread
    hidden = np.maximum(hidden * w["teacher.trunk.1.weight"] + w["teacher.trunk.1.bias"], 0)
    learned = hidden @ w["teacher.hash.weight"].T + w["teacher.hash.bias"]
    look = (VECTORS - w["look.center"]) @ w["look.projection"]
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    (found,) = session.run(["outputs"], {"vectors": VECTORS})
    np.testing.assert_allclose(found, np.hstack([learned, look]), atol=1e-5)


def test_the_file_is_plain_onnx(exported):
    """Anyone can run it, on any number of pictures, and read what it is."""
    folder = exported("frozen, mirrored")
    proto = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(proto, full_check=True)
    assert not any(tensor.external_data for tensor in proto.graph.initializer)
    (said,) = proto.metadata_props
    assert said.key == "pts3h" and said.value.split()[0] == load_model(folder).fingerprint
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    pixels = np.zeros((3, 3, 24, 24), np.uint8)
    outputs, features = session.run(["outputs", "features"], {"pixels": pixels})
    assert outputs.shape == (3, 17) and features.shape == (3, 256)
    np.testing.assert_array_equal(features, features.astype(np.float16), "as they are kept")


@pytest.mark.slow
@pytest.mark.parametrize("backbone", ["efficientnet-lite0", "efficientnet-lite2", "alexnet"])
def test_the_larger_backbones(backbone, tmp_path):
    settings = {"backbone": backbone, "freeze": True, "image_size": 64, "views": 1, "weights": "random"}
    hasher = fitted(PICTURES[:40], **SMALL | settings)
    export_onnx(hasher.model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 10_000_000


def refused(model, folder, match):
    """Nothing is written, and what was there stays."""
    (folder / "model.onnx").write_text("before")
    with pytest.raises(UserError, match=match) as caught:
        export_onnx(model, folder / "model.onnx")
    assert "\n" not in str(caught.value)
    assert [path.read_text() for path in folder.glob("*onnx*")] == ["before"]


def test_a_file_that_would_give_other_codes(exported, tmp_path, monkeypatch):
    content = (made("vectors") / "model.onnx").read_bytes()  # of another model
    monkeypatch.setattr(onnx_export, "onnx_of", lambda networks, inputs: content)
    refused(fitted(look_bits=3, seed=1).model, tmp_path, "would not give the codes that torch gives")


class Stand:
    """In the place of a session: computes in torch what a file would."""

    def __init__(self, graph):
        self.graph, self.name = graph, "pixels"

    def get_inputs(self):
        return [self]

    def run(self, names, inputs):
        with torch.inference_mode():
            return [part.numpy() for part in self.graph(torch.from_numpy(inputs["pixels"]))]


@pytest.mark.parametrize("lie", ["", "no mirror", "a bias", "the student", "other colours", "no rounding"])
@pytest.mark.parametrize("freeze", [True, False], ids=["frozen", "whole"])
def test_every_part_is_compared(monkeypatch, freeze, lie):
    networks = fitted(PICTURES[:40], **SMALL, freeze=freeze, mirror=True).model.networks
    graph = onnx_export.Graph(networks)
    with torch.no_grad():
        match lie:
            case "no mirror":
                graph.mirror = False
            case "a bias":
                graph.coder.hash.bias += 0.1 * graph.coder.hash.bias.abs().max() + 1e-3
            case "the student":
                graph.coder.hash.weight.copy_(-networks.student.hash.weight)
            case "other colours":
                (graph.frozen or graph.coder.backbone).mean += 0.01
            case "no rounding":
                monkeypatch.setattr(onnx_export, "rounded", lambda features: features)
    items = sample_items(networks)
    if lie == "" or (lie == "no rounding" and not freeze):
        check_answers(networks, items, Stand(graph))
        return
    with pytest.raises(UserError, match="would not give the codes"):
        check_answers(networks, items, Stand(graph))


def test_what_onnx_has_no_words_for(tmp_path, monkeypatch):
    monkeypatch.setattr(BACKBONES, "_rows", dict(BACKBONES._rows))

    class Odd(Backbone):
        """Does one thing or another, by what it sees."""

        def __init__(self):
            super().__init__(width=3, mean=(0.5,) * 3, std=(0.5,) * 3)
            self.scale = torch.nn.Parameter(torch.ones(3))

        def extract(self, images):
            pooled = images.mean((2, 3)) * self.scale
            return pooled if pooled.sum() > 0 else -pooled

    row = BackboneRow(name="odd", help="changes its mind", make=Odd)
    hasher = Hasher(backbone=row, freeze=True, bits=4, steps=2, hidden=0, image_size=16, views=1)
    hasher.fit(PICTURES[:40], labels=np.arange(40) % 3)
    refused(hasher.model, tmp_path, "odd cannot be written as ONNX")


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        ([1.0, -1.0], [1.0, -1.0], True),
        ([1.0, -4e-6], [1.0, 5e-6], True),
        ([1e-3, -4e-6], [1e-3, 5e-6], False),
        ([1.0, -1e-7], [1.0, 2e-5], False),
        ([1.0, 0.5], [1.0, 0.6], False),
        ([1.0, np.nan], [1.0, 0.6], False),
    ],
)
def test_what_counts_as_the_same(found, expected, same):
    assert agree(np.array(found), np.array(expected)) == same
