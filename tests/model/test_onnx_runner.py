"""Encoding by onnxruntime: when it is taken, what it refuses, what lies beside it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

import pts3h
from pts3h import UserError, load_model
from pts3h.model import onnx_runner
from pts3h.model.onnx_file import check_onnx, is_file_of, sealed_onnx
from pts3h.model.onnx_runner import FEW, OnnxRunner
from pts3h.model.trained import Networks
from pts3h.util.sealed import sealed
from tests.model.exported import KINDS, PICTURES
from tests.model.models import VECTORS, fitted
from tests.pictures import write_pictures


@pytest.fixture
def folder(exported):
    return exported("vectors")


@pytest.fixture
def no_torch(monkeypatch):
    """As far as anyone can see who looks."""
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.fixture
def no_onnxruntime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)


@pytest.fixture
def by_torch(monkeypatch):
    """How many items torch was given at a time."""
    counted, run = [], Networks.run

    def counting(self, items, *rest, **more):
        counted.append(len(items))
        return run(self, items, *rest, **more)

    monkeypatch.setattr(Networks, "run", counting)
    return counted


class TestWhoRuns:
    def test_a_few_items_without_torch_and_many_with_it(self, exported, by_torch):
        model = load_model(exported("frozen"))
        by_torch.clear()  # the export compared itself with it
        few, many = model.encode(PICTURES[:FEW]), model.encode(PICTURES)
        assert by_torch == [80] and FEW == 64
        assert np.unpackbits(few.codes ^ many.codes[:64]).mean() < 0.01

    def test_all_items_where_torch_is_missing(self, exported, by_torch, monkeypatch):
        folder = exported("frozen")
        monkeypatch.setitem(sys.modules, "torch", None)
        by_torch.clear()
        assert len(load_model(folder).encode(PICTURES).codes) == 80
        assert by_torch == []

    def test_all_items_where_the_weights_are_missing(self, exported, by_torch):
        folder = exported("frozen")
        (folder / "model.safetensors").unlink()
        by_torch.clear()
        assert len(load_model(folder).encode(PICTURES).codes) == 80
        assert by_torch == []

    def test_torch_where_onnxruntime_is_missing(self, folder, by_torch, no_onnxruntime):
        assert isinstance(load_model(folder).runner, Networks)

    def test_torch_where_there_is_no_file(self, folder, by_torch):
        (folder / "model.onnx").unlink()
        assert isinstance(load_model(folder).runner, Networks)

    def test_the_student_is_torchs(self, folder, by_torch):
        model = load_model(folder)
        student = model.outputs(VECTORS[:3], network="student")[0]
        assert by_torch == [3]
        np.testing.assert_array_equal(student, model.networks.student(as_tensor(VECTORS[:3])).detach())

    def test_a_hasher_too(self, folder, no_torch):
        hasher = pts3h.Hasher.load(folder)
        assert isinstance(hasher.model.runner, OnnxRunner) and hasher.encode(VECTORS).shape == (40, 2)
        assert hasher.fingerprint == json.loads((folder / "config.json").read_text())["fingerprint"]


def as_tensor(vectors):
    import torch

    return torch.from_numpy(vectors)


class TestWhatIsMissing:
    def refused(self, match, act):
        with pytest.raises(UserError, match=match) as caught:
            act()
        assert "\n" not in str(caught.value)

    def test_torch_for_training(self, no_torch):
        self.refused(r"training needs torch: pip install 'pts3h\[train\]'", lambda: fitted())

    def test_torch_for_the_student(self, folder, no_torch):
        model = load_model(folder)
        wanted = r"^encoding by the student needs torch: pip install 'pts3h\[train\]'$"
        self.refused(wanted, lambda: model.encode(VECTORS, network="student"))

    def test_torch_for_saving(self, folder, no_torch, tmp_path):
        hasher = pts3h.Hasher.load(folder)
        self.refused(r"needs torch: .*\[train\]", lambda: hasher.save(tmp_path / "other"))
        assert not (tmp_path / "other").exists()

    def test_the_file(self, folder, no_torch):
        (folder / "model.onnx").unlink()
        wanted = (
            r"encoding with .*model needs torch: .*\[train\]'; or run 'pts3h export .*model --onnx' where"
        )
        self.refused(wanted, lambda: load_model(folder))

    def test_onnxruntime(self, folder, no_torch, no_onnxruntime):
        self.refused(r"needs onnxruntime: pip install 'pts3h\[onnx\]'", lambda: load_model(folder))

    def test_the_weights(self, folder, no_onnxruntime):
        (folder / "model.safetensors").unlink()
        self.refused(r"needs onnxruntime: pip install 'pts3h\[onnx\]'", lambda: load_model(folder))

    def test_the_weights_for_the_student(self, folder):
        (folder / "model.safetensors").unlink()
        model = load_model(folder)
        self.refused("needs .*model.safetensors: copy it", lambda: model.encode(VECTORS, network="student"))


class TestTheFile:
    def test_of_another_model(self, folder, monkeypatch):
        """A crash may leave it there. It is passed over where torch can do, and said where not."""
        other = sealed_onnx(b"", "0123456789abcdef")
        (folder / "model.onnx").write_bytes(other)
        assert isinstance(load_model(folder).runner, Networks)
        (folder / "model.safetensors").unlink()
        with pytest.raises(UserError, match=r"its model\.onnx is damaged or another model's"):
            load_model(folder)

    def test_a_new_model_takes_it_away(self, folder):
        fitted(seed=1).save(folder, overwrite=True)
        assert not (folder / "model.onnx").exists()

    @pytest.mark.parametrize("place", [0, 1000, -100])
    def test_a_flipped_bit(self, folder, place):
        content = bytearray((folder / "model.onnx").read_bytes())
        content[place] ^= 4
        (folder / "model.onnx").write_bytes(content)
        with pytest.raises(UserError, match=r"model\.onnx is damaged"):
            load_model(folder)

    def test_what_onnxruntime_cannot_run(self, folder):
        fingerprint = load_model(folder).fingerprint
        (folder / "model.onnx").write_bytes(sealed_onnx(b"no graph", fingerprint))
        with pytest.raises(UserError, match="onnxruntime cannot run") as caught:
            load_model(folder)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("place", ["secret.bin", "../secret.bin", "{here}/secret.bin"])
    def test_no_path_in_it_is_followed(self, folder, tmp_path, monkeypatch, place):
        """A graph may name files that hold its weights."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "secret.bin").write_bytes(b"password")
        (folder / "model.onnx").write_bytes(
            sealed_onnx(naming(place.format(here=tmp_path)), load_model(folder).fingerprint)
        )
        with pytest.raises(UserError, match=r"onnxruntime cannot run .*External data path"):
            load_model(folder)

    @pytest.mark.parametrize("name", ["width", "bits"])
    def test_settings_that_are_not_its_own(self, folder, name):
        description = json.loads((folder / "config.json").read_text())
        description.pop("checksum")
        if name == "width":
            description["width"] = 7
        else:
            description["settings"]["bits"] = 13
        (folder / "config.json").write_text(json.dumps(sealed(description)))
        with pytest.raises(UserError, match="does not fit the settings"):
            load_model(folder)

    def test_its_end_says_whose_it_is(self, tmp_path):
        file = tmp_path / "model.onnx"
        file.write_bytes(sealed_onnx(b"a graph", "0123456789abcdef"))
        assert is_file_of(file, "0123456789abcdef") and not is_file_of(file, "0123456789abcdee")
        whole = file.read_bytes()
        check_onnx(file, whole, "0123456789abcdef")
        for damaged in (b"A" + whole[1:], whole[:-1], b""):
            with pytest.raises(UserError, match="is damaged"):
                check_onnx(file, damaged, "0123456789abcdef")
        for short in (b"", b"a", file.read_bytes()[1:50]):
            file.write_bytes(short)
            assert not is_file_of(file, "0123456789abcdef")
        assert not is_file_of(tmp_path / "none", "0123456789abcdef")


def naming(place):
    """A graph that adds to vectors of 8 numbers what a file holds."""
    held = TensorProto(name="held", data_type=TensorProto.UINT8, dims=[8], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", place), ("offset", "0"), ("length", "8")):
        held.external_data.add(key=key, value=value)
    nodes = [helper.make_node("Cast", ["held"], ["numbers"], to=TensorProto.FLOAT)]
    nodes.append(helper.make_node("Add", ["vectors", "numbers"], ["outputs"]))
    taken, given = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in ("vectors", "outputs")
    )
    graph = helper.make_graph(nodes, "graph", [taken], [given], [held])
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def test_pictures_that_cannot_be_read(exported, tmp_path):
    write_pictures(tmp_path / "photos", 8, side=20)
    (tmp_path / "photos" / "03.png").write_text("no picture")
    encoded = load_model(exported("frozen")).encode(tmp_path / "photos")
    assert encoded.kept.tolist() == [0, 1, 2, 4, 5, 6, 7] and list(encoded.skipped) == ["03.png"]


def test_a_bar_that_someone_else_draws(folder):
    told = []
    model = load_model(folder)
    model.encode(VECTORS, progress=lambda *said: told.append(said))
    assert told[0] == ("encoding", 0, 40) and told[-1] == ("encoding", 40, 40)


def test_batches_do_not_change_outputs(folder, monkeypatch):
    model = load_model(folder)
    expected, _ = model.outputs(VECTORS)
    monkeypatch.setattr(onnx_runner, "BATCH", 7)
    np.testing.assert_allclose(model.outputs(VECTORS)[0], expected, atol=1e-6)


def test_kinds_of_items_are_told_apart(exported):
    model = load_model(exported("frozen"))
    with pytest.raises(UserError, match="this model encodes pictures"):
        model.encode(KINDS["vectors"][0])


LOADED = """
import sys
from pathlib import Path
import pts3h
pts3h.load_model(sys.argv[1]).encode([[0.0] * 6])
print([str(path) for path in Path(sys.argv[2]).rglob("*")])
"""


def test_onnxruntime_reports_to_nobody(folder, tmp_path):
    """Its ordinary builds do, and keep a number for this machine, unless they are told before they start."""
    home = tmp_path / "home"
    home.mkdir()
    quiet = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    homes = {name: str(home) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    command = [sys.executable, "-c", LOADED, str(folder), str(home)]
    done = subprocess.run(command, env=quiet | homes, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
