"""Look bits of a model: ITQ of the features that its learned bits are made of, in the same pass."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import pts3h
from pts3h import Hasher, UserError, unpack
from pts3h.codes import DEFAULT_WEIGHT
from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.feature_cache import FrozenBackbone
from pts3h.training import look as module
from pts3h.training.preparation import compute_features
from pts3h.unsupervised.steady import learn_steady_bits
from tests.model.models import SMALL, VECTORS, fitted
from tests.pictures import pictures

IMAGES, _ = pictures(40, side=16)
KINDS = {
    "vectors": (VECTORS, {}),
    "frozen": (IMAGES, {**SMALL, "freeze": True, "views": 1}),
    "fine-tuned": (IMAGES, SMALL),
}
LEARNED, LOOK = 12, 5


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def hasher(kind):
    items, settings = KINDS[kind]
    return fitted(items, look_bits=LOOK, **settings)


def tensors(size=16):
    """The images as networks take them."""
    return ImageInputs(ImageArray(IMAGES), size).clean(np.arange(40))


@torch.no_grad()
def features_of(hasher, kind):
    """What enters the head, computed here."""
    if kind == "vectors":
        return VECTORS
    networks = hasher.model.networks
    frozen = None if networks.backbone is None else FrozenBackbone(networks.backbone, name="small")
    return (frozen or networks.teacher.backbone.eval())(tensors()).numpy()


def look_of(hasher, kind, features):
    """The real outputs behind the look bits, learned here."""
    copies = np.empty((0, 0, features.shape[1]), np.float32)
    if kind == "frozen":
        found = compute_features(ImageArray(IMAGES), hasher.model.networks.backbone, hasher.model.used, False)
        copies = np.asarray(found.array[:, 1:])
    return learn_steady_bits(features, copies, LOOK, seed=0)(features)


def test_they_follow_the_learned_bits_and_are_steady_bits_of_the_features(hasher, kind):
    items, _ = KINDS[kind]
    outputs, _ = hasher.outputs(items)
    signs = unpack(hasher.encode(items), LEARNED + LOOK)
    np.testing.assert_array_equal(signs[:, :LEARNED] > 0, outputs >= 0)
    features = features_of(hasher, kind)
    expected = look_of(hasher, kind, features)
    clear = np.abs(expected) > 1e-4 * np.abs(expected).max()
    np.testing.assert_array_equal((signs[:, LEARNED:] > 0)[clear], (expected > 0)[clear])
    assert clear.mean() > 0.95


def test_the_learned_bits_are_those_of_a_model_without_look_bits(hasher, kind):
    items, settings = KINDS[kind]
    plain = fitted(items, **settings)
    np.testing.assert_array_equal(plain.outputs(items)[0], hasher.outputs(items)[0])
    assert plain.fingerprint != hasher.fingerprint
    assert not any(name.startswith("look.") for name in plain.model.networks.tensors())


def test_how_long_the_codes_are(hasher, kind):
    items, _ = KINDS[kind]
    encoded = hasher.model.encode(items)
    assert hasher.bits == hasher.model.bits == encoded.bits == LEARNED + LOOK
    assert (encoded.layout.meaning, encoded.layout.look) == (hasher.used.bits, hasher.used.look_bits)
    assert encoded.layout == hasher.model.layout and encoded.layout.weight == DEFAULT_WEIGHT
    assert encoded.codes.shape == (40, 3) and hasher.outputs(items)[0].shape == (40, LEARNED)
    assert Hasher(bits=LEARNED, look_bits=LOOK).bits == LEARNED + LOOK and Hasher(look_bits=0).bits == 64


def test_both_parts_come_from_one_pass(hasher, kind, monkeypatch):
    items, _ = KINDS[kind]
    calls = []
    for owner, name in ((SmallConv, "extract"), (FrozenBackbone, "clean")):
        whole = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, w=whole, n=name, **more: calls.append(n) or w(*a, **more))
    hasher.encode(items)  # one batch
    assert calls.count({"frozen": "clean"}.get(kind, "extract")) == (kind != "vectors")


def test_a_loaded_model_gives_the_same_codes(hasher, kind, tmp_path):
    items, _ = KINDS[kind]
    hasher.save(tmp_path / "model")
    loaded = Hasher.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(items), hasher.encode(items))
    assert loaded.fingerprint == hasher.fingerprint and loaded.settings.look_bits == LOOK
    card = (tmp_path / "model" / "README.md").read_text()
    assert "# A pts3h model: 12 + 5 bits" in card
    assert "into binary codes of 17 bits: 12 learned ones and 5 of the look." in card


def test_student_and_teacher_look_alike(hasher, kind):
    """A fine-tuned student has features of its own, and the same projection."""
    items, _ = KINDS[kind]
    teacher, student = (unpack(hasher.encode(items, network=name), 17) for name in ("teacher", "student"))
    if kind != "fine-tuned":
        np.testing.assert_array_equal(teacher[:, LEARNED:], student[:, LEARNED:])
    assert (teacher[:, LEARNED:] == student[:, LEARNED:]).mean() > 0.8


def test_a_damaged_look_is_noticed(tmp_path):
    fitted(look_bits=3).save(tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    stored = load_file(weights)
    save_file({**stored, "look.projection": -stored["look.projection"]}, weights)
    with pytest.raises(UserError, match="is damaged"):
        pts3h.load_model(tmp_path / "model")
    save_file({name: value for name, value in stored.items() if name != "look.center"}, weights)
    with pytest.raises(UserError, match=r"weights do not fit its settings \(look\)"):
        pts3h.load_model(tmp_path / "model")


def test_without_look_bits_nothing_is_stored_of_them(tmp_path):
    fitted().save(tmp_path / "model")
    names = {name.split(".")[0] for name in load_file(tmp_path / "model" / "model.safetensors")}
    assert names == {"student", "teacher"}
    assert json.loads((tmp_path / "model" / "config.json").read_text())["settings"]["look_bits"] == 0


def test_only_items_that_take_part_count():
    labels = np.where(np.arange(40) < 10, np.arange(40) % 2, -1)
    hasher = Hasher(bits=8, look_bits=3, steps=2, hidden=8)
    hasher.fit(VECTORS, labels=labels, unlabelled=np.arange(10, 25))
    np.testing.assert_allclose(hasher.model.networks.look.center, VECTORS[:25].mean(axis=0), atol=1e-6)


def test_of_many_items_a_sample_counts(monkeypatch):
    monkeypatch.setattr(module, "MOST_ITEMS", 10)
    seen = []

    def learn(rows, *rest):
        seen.append(rows)
        return learn_steady_bits(rows, *rest)

    monkeypatch.setattr(module, "learn_steady_bits", learn)
    codes = [fitted(look_bits=3, seed=seed).encode(VECTORS) for seed in (0, 0, 1)]
    places = [[int(np.flatnonzero((row == VECTORS).all(1))[0]) for row in rows] for rows in seen]
    assert all(len(set(some)) == 10 for some in places)
    assert places[0] == places[1] != places[2]
    np.testing.assert_array_equal(codes[0], codes[1])


def test_a_fine_tuned_network_learns_the_look_of_what_it_encodes():
    """At the size and with the mirror images of encoding, not those of training."""
    model = fitted(IMAGES, look_bits=3, **SMALL, code_size=32, mirror=True).model
    larger = tensors(32)
    backbone = model.networks.teacher.backbone.eval()
    expected = (backbone(larger) + backbone(larger.flip(3))).mean(dim=0) / 2
    np.testing.assert_allclose(model.networks.look.center, expected.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("items", "settings", "says"),
    [
        (
            VECTORS,
            {"look_bits": 7},
            "look_bits=7 needs as many directions, and vectors of 6 numbers have only 6",
        ),
        (IMAGES, {**SMALL, "look_bits": 257}, "look_bits=257 needs .* vectors of 256 numbers have only 256"),
        (IMAGES, {**SMALL, "look_bits": 257, "freeze": True}, "look_bits=257 needs"),
    ],
    ids=KINDS,
)
def test_more_look_bits_than_directions_are_refused_before_training(items, settings, says, monkeypatch):
    for work in ("learn", "compute_features"):
        monkeypatch.delattr(f"pts3h.training.stages.{work}")
    with pytest.raises(UserError, match=says) as caught:
        fitted(items, **settings)
    assert "\n" not in str(caught.value)


def test_as_many_as_there_are_directions_are_fine():
    assert fitted(look_bits=6).encode(VECTORS).shape == (40, 3)
