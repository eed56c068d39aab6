"""A trained model: from items to codes."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pts3h import Model, UserError, load_model, unpack
from pts3h.data.images import ImageArray
from pts3h.data.inputs import VectorInputs
from pts3h.model.inference import run
from pts3h.model.trained import Networks
from pts3h.nets.feature_cache import FrozenBackbone
from tests.model.models import SMALL, VECTORS, fitted
from tests.pictures import pictures, write_pictures


@pytest.fixture(scope="module")
def hasher():
    return fitted()


def changed(hasher, **settings):
    """The same networks with other settings."""
    networks = hasher.model.networks
    return Model(replace(networks, used=networks.used.but(settings)), {}, [])


class TestEncodingPictures:
    """A network that was trained whole may look at larger pictures, and at their mirror images."""

    IMAGES, _ = pictures(40, side=16)

    @pytest.fixture
    def whole(self):
        return fitted(self.IMAGES, **SMALL)

    def changed(self, hasher, **settings):
        model = changed(hasher, **settings)
        return model.outputs(self.IMAGES)[0], model.fingerprint

    def test_mirror(self, whole):
        plain, _ = whole.outputs(self.IMAGES)
        turned, _ = whole.outputs(np.ascontiguousarray(self.IMAGES[:, :, ::-1]))
        both, fingerprint = self.changed(whole, mirror=True)
        assert np.abs(plain - turned).max() > 1e-5
        np.testing.assert_allclose(both, (plain + turned) / 2, rtol=1e-3, atol=1e-7)
        assert fingerprint != whole.fingerprint

    def test_code_size(self, whole):
        larger, fingerprint = self.changed(whole, code_size=24)
        expected, _ = self.changed(whole, image_size=24, code_size=24)
        np.testing.assert_array_equal(larger, expected)
        assert np.abs(larger - whole.outputs(self.IMAGES)[0]).max() > 1e-5
        assert fingerprint != whole.fingerprint


def test_a_frozen_network_codes_a_picture_as_its_mirror_image():
    """The mean of both sides is the same from either, in learned bits and in look bits."""
    images, _ = pictures(40, side=16)
    hasher = fitted(images, **SMALL, freeze=True, mirror=True, look_bits=3)
    turned = np.ascontiguousarray(images[:, :, ::-1])
    ours, theirs = (hasher.outputs(some)[0] for some in (images, turned))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    plain = changed(hasher, mirror=False)
    assert np.abs(plain.outputs(images)[0] - plain.outputs(turned)[0]).max() > 1e-5
    assert plain.fingerprint != hasher.fingerprint


def test_a_frozen_network_codes_at_its_own_size():
    """What is encoded is what the clean features of the training were, in learned bits and in look bits."""
    images, _ = pictures(40, side=16)
    hasher = fitted(images, **SMALL, freeze=True, code_size=24, look_bits=3)
    networks = hasher.model.networks
    features = networks.frozen.clean(ImageArray(images), size=24, keep=False).array[:, 0]
    expected = run(networks.coder("teacher"), VectorInputs(features), np.arange(40), progress=False)
    np.testing.assert_array_equal(hasher.outputs(images)[0], expected[:, :12])
    np.testing.assert_array_equal(unpack(hasher.encode(images), 15) > 0, expected >= 0)
    np.testing.assert_allclose(networks.look.center, features.astype(np.float64).mean(axis=0), atol=1e-3)
    smaller = changed(hasher, code_size=16)
    assert np.abs(smaller.outputs(images)[0] - expected[:, :12]).max() > 1e-5
    assert smaller.fingerprint != hasher.fingerprint


def test_backbone_and_fingerprint_are_made_once_per_loaded_model(tmp_path, monkeypatch):
    images, _ = pictures(40, side=16)
    fitted(images, **SMALL, freeze=True).save(tmp_path / "model")
    made = []
    tensors, build = Networks.tensors, FrozenBackbone.__init__
    monkeypatch.setattr(Networks, "tensors", lambda self: made.append("hash") or tensors(self))
    monkeypatch.setattr(
        FrozenBackbone,
        "__init__",
        lambda self, *args, **kw: made.append("backbone") or build(self, *args, **kw),
    )
    loaded = load_model(tmp_path / "model")
    for _ in range(3):
        loaded.encode(images)
        assert loaded.fingerprint
    assert sorted(made) == ["backbone", "hash"]


class TestItems:
    def test_vectors_of_another_width(self, hasher):
        with pytest.raises(UserError, match="encodes vectors of 6 numbers, these have 5"):
            hasher.encode(VECTORS[:, :5])

    def test_pictures_for_a_model_of_vectors_and_the_reverse(self, hasher):
        images, _ = pictures(40, side=16)
        with pytest.raises(UserError, match="these items are pictures"):
            hasher.encode(images)
        of_pictures = fitted(images, **SMALL)
        with pytest.raises(UserError, match="this model encodes pictures"):
            of_pictures.encode(VECTORS)

    def test_an_unknown_network(self, hasher):
        with pytest.raises(UserError, match="'teacher' or 'student', got 'both'"):
            hasher.encode(VECTORS, network="both")

    def test_outputs_do_not_depend_on_batches(self, hasher, monkeypatch):
        expected, _ = hasher.outputs(VECTORS)
        monkeypatch.setattr(VectorInputs, "batch", 7)
        np.testing.assert_allclose(hasher.outputs(VECTORS)[0], expected, atol=1e-6)

    def test_the_model_is_what_it_says(self, hasher):
        assert isinstance(hasher.model, Model) and not hasher.used.takes_pictures and hasher.model.width == 6

    def test_what_is_encoded_and_what_is_not(self, tmp_path):
        write_pictures(tmp_path / "photos", 8, side=16)
        (tmp_path / "photos" / "03.png").write_text("no picture")
        model = fitted(pictures(40, side=16)[0], **SMALL).model
        outputs, broken = model.outputs(tmp_path / "photos")
        encoded = model.encode(tmp_path / "photos")
        assert encoded.ids == [f"{n:02}.png" for n in range(8) if n != 3] and encoded.bits == 12
        assert list(broken) == [3] and list(encoded.skipped) == ["03.png"]
        assert encoded.kept.tolist() == [0, 1, 2, 4, 5, 6, 7]
        np.testing.assert_array_equal(unpack(encoded.codes, 12) > 0, outputs[encoded.kept] >= 0)


ENCODE = """
import numpy as np, sys
import pts3h
codes = pts3h.load_model(sys.argv[1]).encode(np.load(sys.argv[2]), progress=False).codes
np.save(sys.argv[3], codes)
"""
COMMAND = """
import sys
from pts3h.cli.app import main
sys.argv = ["pts3h", "encode", sys.argv[1], sys.argv[2], "--out", sys.argv[3]]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
IMPORTED = """
import json
unwanted = [name for name in sys.modules if name.startswith("pts3h.training") or name == "pts3h.hasher"]
print(json.dumps(unwanted))
"""


@pytest.mark.parametrize("code", [ENCODE, COMMAND], ids=["library", "command"])
def test_encoding_imports_nothing_of_training(hasher, tmp_path, code):
    hasher.save(tmp_path / "model")
    np.save(tmp_path / "vectors.npy", VECTORS)
    arguments = [str(tmp_path / name) for name in ("model", "vectors.npy", "codes.npy")]
    command = [sys.executable, "-c", code + IMPORTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), hasher.encode(VECTORS))
