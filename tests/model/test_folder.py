"""A model folder: written whole, read exactly."""

import json
import os

import numpy as np
import pytest

import pts3h
from pts3h import UserError
from tests.model.models import SMALL, VECTORS, fitted
from tests.pictures import pictures


@pytest.fixture(scope="module")
def hasher():
    return fitted()


@pytest.fixture
def folder(hasher, tmp_path):
    hasher.save(tmp_path / "model")
    return tmp_path / "model"


def fitted_into(folder):
    return pts3h.Hasher(bits=12, steps=2, hidden=8).fit(VECTORS, out=folder)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
        assert loaded.fingerprint == hasher.fingerprint and loaded.used == hasher.used
        assert loaded.history == hasher.history and loaded.model.summary == hasher.model.summary

    @pytest.mark.parametrize("freeze", [True, False])
    def test_pictures_need_nothing_but_the_folder(self, tmp_path, freeze, monkeypatch):
        images, _ = pictures(40, side=16)
        hasher = fitted(images, **SMALL, freeze=freeze)
        codes = hasher.encode(images)
        hasher.save(str(tmp_path / "model"))
        monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "another"))
        loaded = pts3h.Hasher.load(str(tmp_path / "model"))
        np.testing.assert_array_equal(loaded.encode(images), codes)
        assert (loaded.model.networks.backbone is not None) == freeze

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

    def test_through_a_link_to_what_is_not_there_yet(self, hasher, tmp_path):
        for name, save in (("a", hasher.save), ("b", fitted_into)):
            (tmp_path / name).symlink_to(tmp_path / f"new-{name}")
            save(tmp_path / name)
            assert pts3h.load_model(tmp_path / f"new-{name}").bits == 12

    def test_a_name_that_no_folder_has(self, hasher, tmp_path):
        for save in (hasher.save, fitted_into):
            with pytest.raises(UserError, match="no name of a file holds a NUL"):
                save(tmp_path / "a\0b")

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

    def test_the_report_of_the_model_before_goes_with_it(self, hasher, folder):
        (folder / "report.html").write_text("of the model before")
        assert pts3h.Hasher.load(folder).fingerprint == hasher.fingerprint
        fitted(seed=1).save(folder, overwrite=True)
        assert set(files(folder)) == {"config.json", "model.safetensors", "history.jsonl", "README.md"}

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
    def test_a_failure_while_writing_leaves_the_old_model(self, hasher, folder, monkeypatch, error):
        before = files(folder)

        def broken(*_):
            raise error

        monkeypatch.setattr("pts3h.model.folder.write_text", broken)
        with pytest.raises(error):
            fitted(seed=1).save(folder, overwrite=True)
        assert files(folder) == before and len(list(folder.parent.iterdir())) == 1

    def test_a_failure_while_replacing_leaves_the_old_model(self, hasher, folder, monkeypatch):
        before = files(folder)

        def fails(*_):
            raise OSError("cannot rename")

        monkeypatch.setattr(os, "rename", fails)
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
