"""A model folder: written whole, read exactly, guarded against damage."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import pts3h
from pts3h import UserError
from pts3h.data.items import read_items
from pts3h.model.model import Model, can_be_swapped
from tests.pictures import pictures, random_pairs

VECTORS = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
PAIRS = random_pairs(np.arange(40) % 3, 60)


def fitted(items=VECTORS, **settings):
    return pts3h.Hasher(**({"bits": 12, "steps": 3, "hidden": 8} | settings)).fit(items, pairs=PAIRS)


@pytest.fixture(scope="module")
def hasher():
    return fitted()


@pytest.fixture
def folder(hasher, tmp_path):
    hasher.save(tmp_path / "model")
    return tmp_path / "model"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestCodingPictures:
    """A network that was trained whole may look at larger pictures, and at their mirror images."""

    IMAGES, _ = pictures(40, side=16)

    @pytest.fixture
    def whole(self):
        settings = {"backbone": "small", "image_size": 16, "labelled_per_batch": 8, "unlabelled_per_batch": 8}
        return fitted(self.IMAGES, **settings)

    def changed(self, hasher, **settings):
        model = replace(hasher.model, config=hasher.config.with_settings(settings))
        return model.outputs(read_items(self.IMAGES))[0], model.fingerprint()

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


class TestSaveAndLoad:
    def test_a_model_is_four_files(self, hasher, folder):
        assert set(files(folder)) == {"config.json", "model.safetensors", "history.jsonl", "README.md"}
        assert [path.name for path in folder.parent.iterdir()] == ["model"]
        assert json.loads((folder / "config.json").read_text())["settings"]["bits"] == 12
        assert len((folder / "history.jsonl").read_text().splitlines()) == 3
        assert hasher.fingerprint in (folder / "README.md").read_text()

    @pytest.mark.parametrize("network", ["teacher", "student"])
    def test_a_loaded_model_gives_the_same_outputs(self, hasher, folder, network):
        loaded = pts3h.Hasher.load(folder)
        expected, _ = hasher.outputs(VECTORS, network=network)
        np.testing.assert_array_equal(loaded.outputs(VECTORS, network=network)[0], expected)
        assert loaded.fingerprint == hasher.fingerprint and loaded.config == hasher.config
        assert loaded.history == hasher.history and loaded.model.summary == hasher.model.summary

    @pytest.mark.parametrize("freeze", [True, False])
    def test_pictures_need_nothing_but_the_folder(self, tmp_path, freeze, monkeypatch):
        images, _ = pictures(40, side=16)
        settings = {"backbone": "small", "freeze": freeze, "image_size": 16, "warm_start": False, "views": 1}
        hasher = fitted(images, **settings, labelled_per_batch=8, unlabelled_per_batch=8)
        codes = hasher.encode(images)
        hasher.save(str(tmp_path / "model"))
        monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "another"))
        loaded = pts3h.Hasher.load(str(tmp_path / "model"))
        np.testing.assert_array_equal(loaded.encode(images), codes)
        assert (loaded.model.backbone is not None) == freeze

    def test_an_empty_folder_will_do(self, hasher, tmp_path):
        (tmp_path / "empty").mkdir()
        hasher.save(tmp_path / "empty")
        assert pts3h.Hasher.load(tmp_path / "empty").bits == 12

    def test_here(self, hasher, tmp_path, monkeypatch):
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        hasher.save(".")
        assert pts3h.Hasher.load(tmp_path / "here").fingerprint == hasher.fingerprint

    def test_through_a_link(self, hasher, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        hasher.save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "config.json").is_file()

    def test_into_a_folder_that_cannot_be_swapped(self, hasher, tmp_path, monkeypatch):
        """Where a disk is mounted, as in containers, or next to which nothing may be written."""
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
        monkeypatch.setattr("pts3h.model.model.can_be_swapped", lambda _: False)
        fitted(seed=1).save(folder, overwrite=True)
        hasher.save(folder, overwrite=True)
        assert pts3h.Hasher.load(folder).fingerprint == hasher.fingerprint
        assert len(files(folder)) == 5 and (folder / "notes.txt").read_text() == "mine"

    def test_what_can_be_swapped(self, tmp_path):
        assert can_be_swapped(tmp_path) and can_be_swapped(tmp_path / "new")
        assert not can_be_swapped(Path("/"))

    def test_the_fingerprint_is_of_what_shapes_codes(self, hasher):
        assert fitted().fingerprint == hasher.fingerprint
        assert fitted(seed=1).fingerprint != hasher.fingerprint


class TestNothingIsLost:
    def test_an_existing_folder_is_left_alone(self, hasher, folder):
        before = files(folder)
        with pytest.raises(UserError, match="exists and is not empty"):
            hasher.save(folder)
        (folder.parent / "file").write_text("mine")
        with pytest.raises(UserError, match="is a file"):
            hasher.save(folder.parent / "file")
        assert files(folder) == before and (folder.parent / "file").read_text() == "mine"

    def test_overwriting_replaces_the_model_and_keeps_what_is_not_its_own(self, folder):
        (folder / "notes.txt").write_text("mine")
        (folder / "photos").mkdir()
        (folder / "photos" / "a.jpg").write_text("mine too")
        other = fitted(seed=1)
        other.save(folder, overwrite=True)
        assert pts3h.Hasher.load(folder).fingerprint == other.fingerprint
        assert (folder / "notes.txt").read_text() == "mine"
        assert (folder / "photos" / "a.jpg").read_text() == "mine too"
        assert [path.name for path in folder.parent.iterdir()] == ["model"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
    def test_a_failure_while_writing_leaves_the_old_model(self, hasher, folder, monkeypatch, error):
        before = files(folder)

        def broken(*_):
            raise error

        monkeypatch.setattr("pts3h.model.model.write_history", broken)
        with pytest.raises(error):
            fitted(seed=1).save(folder, overwrite=True)
        assert files(folder) == before and len(list(folder.parent.iterdir())) == 1

    def test_a_failure_while_swapping_leaves_the_old_model(self, hasher, folder, monkeypatch):
        before, rename = files(folder), type(folder).rename

        def fails_for_the_new(self, target):
            if self.suffix == ".new":
                raise OSError("cannot rename")
            return rename(self, target)

        monkeypatch.setattr(type(folder), "rename", fails_for_the_new)
        with pytest.raises(OSError, match="cannot rename"):
            fitted(seed=1).save(folder, overwrite=True)
        assert files(folder) == before and len(list(folder.parent.iterdir())) == 1

    def test_a_full_disk_is_said_and_leaves_the_disk_as_it_was(self, small_disk):
        hasher = fitted(hidden=4096)  # 400 KB
        (small_disk / "mine.txt").write_text("mine")
        with pytest.raises(UserError, match="the disk is full; free some space") as caught:
            hasher.save(small_disk / "model")
        assert "\n" not in str(caught.value)
        assert [path.name for path in small_disk.iterdir()] == ["mine.txt"]
        assert hasher.encode(VECTORS).shape == (40, 2)  # the model is still there to be saved elsewhere

    def test_a_full_disk_leaves_an_older_model(self, hasher, folder, monkeypatch):
        before = files(folder)

        def full(descriptor):
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match="the disk is full"):
            hasher.save(folder, overwrite=True)
        assert files(folder) == before


class TestDamage:
    def refused(self, folder, match):
        with pytest.raises(UserError, match=match) as caught:
            pts3h.Hasher.load(folder)
        assert "\n" not in str(caught.value) and "model" in str(caught.value)

    @pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
    def test_a_missing_file(self, folder, name):
        (folder / name).unlink()
        self.refused(folder, "needs config.json and model.safetensors")

    def test_no_folder(self, tmp_path):
        self.refused(tmp_path / "model", "is not a model folder")

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "{}", '{"format": 1}', '{"format": 1, "settings": {"bats": 1}}']
    )
    def test_a_config_that_is_none(self, folder, text):
        (folder / "config.json").write_text(text)
        self.refused(folder, "cannot be read as a model")

    @pytest.mark.parametrize("key", ["settings", "width", "summary", "fingerprint", "frozen_backbone"])
    def test_a_config_with_a_hole(self, folder, key):
        description = json.loads((folder / "config.json").read_text())
        del description[key]
        (folder / "config.json").write_text(json.dumps(description))
        self.refused(folder, f"cannot be read as a model.*{key}")

    def test_another_format(self, folder):
        description = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(description | {"format": 99}))
        self.refused(folder, "format 99")

    def test_cut_weights(self, folder):
        content = (folder / "model.safetensors").read_bytes()
        for length in (0, 5, 100, len(content) - 1):
            (folder / "model.safetensors").write_bytes(content[:length])
            self.refused(folder, "cannot be read as a model")

    def test_a_flipped_bit(self, folder):
        content = bytearray((folder / "model.safetensors").read_bytes())
        content[-10] ^= 4
        (folder / "model.safetensors").write_bytes(content)
        self.refused(folder, "is damaged")

    def test_weights_of_another_shape(self, folder):
        weights = load_file(folder / "model.safetensors")
        save_file(weights | {"teacher.hash.bias": np.zeros(99, np.float32)}, folder / "model.safetensors")
        self.refused(folder, r"do not fit its settings \(teacher\)")

    def test_a_broken_history(self, folder):
        (folder / "history.jsonl").write_text("{")
        self.refused(folder, "cannot be read as a model")


class TestItems:
    def test_vectors_of_another_width(self, hasher):
        with pytest.raises(UserError, match="codes vectors of 6 numbers, these have 5"):
            hasher.encode(VECTORS[:, :5])

    def test_pictures_for_a_model_of_vectors_and_the_reverse(self, hasher):
        images, _ = pictures(40, side=16)
        with pytest.raises(UserError, match="these items are pictures"):
            hasher.encode(images)
        of_pictures = fitted(
            images, backbone="small", image_size=16, labelled_per_batch=8, unlabelled_per_batch=8
        )
        with pytest.raises(UserError, match="this model codes pictures"):
            of_pictures.encode(VECTORS)

    def test_an_unknown_network(self, hasher):
        with pytest.raises(UserError, match="'teacher' or 'student', got 'both'"):
            hasher.encode(VECTORS, network="both")

    def test_outputs_do_not_depend_on_batches(self, hasher, monkeypatch):
        expected, _ = hasher.outputs(VECTORS)
        monkeypatch.setattr("pts3h.model.model.BATCH", 7)
        np.testing.assert_allclose(hasher.outputs(VECTORS)[0], expected, atol=1e-6)

    def test_the_model_is_what_it_says(self, hasher):
        assert isinstance(hasher.model, Model) and not hasher.model.takes_images and hasher.model.width == 6
