"""A damaged model folder is refused in one line."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import pts3h
from pts3h import UserError
from pts3h.util.sealed import sealed
from tests.model.models import VECTORS, fitted


@pytest.fixture(scope="module")
def hasher():
    return fitted()


@pytest.fixture
def folder(hasher, tmp_path):
    hasher.save(tmp_path / "model")
    return tmp_path / "model"


def rewrite(folder, description):
    """A config.json that was not damaged, but made like this."""
    (folder / "config.json").write_text(
        json.dumps(sealed({name: one for name, one in description.items() if name != "checksum"}))
    )


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
        "text",
        [
            "",
            "{",
            "[]",
            "{}",
            '{"format": 1}',
            '{"format": 1, "settings": {"bats": 1}, "summary": {}}',
            '{"format": 2}',
            '{"format": 2, "settings": {"bats": 1}}',
        ],
    )
    def test_a_config_that_is_none(self, folder, text):
        (folder / "config.json").write_text(text)
        self.refused(folder, "cannot be read as a model")

    @pytest.mark.parametrize("key", ["settings", "width", "summary", "fingerprint", "frozen_backbone"])
    def test_a_config_with_a_hole(self, folder, key):
        description = json.loads((folder / "config.json").read_text())
        del description[key]
        rewrite(folder, description)
        self.refused(folder, f"cannot be read as a model.*{key}")

    def test_another_format(self, folder):
        description = json.loads((folder / "config.json").read_text())
        rewrite(folder, description | {"format": 99})
        self.refused(folder, "format 99")

    @pytest.mark.parametrize("value", [-1, 10**15, 10**30, 5, 1.5, "six", None, [6]])
    @pytest.mark.parametrize("name", ["width", "bits", "hidden", "look_bits"])
    def test_sizes_that_are_not_those_of_the_weights(self, folder, name, value):
        """They are refused before memory is taken for them."""
        description = json.loads((folder / "config.json").read_text())
        (description if name == "width" else description["settings"])[name] = value
        rewrite(folder, description)
        self.refused(folder, "cannot be read as a model|do not fit its settings|bits must be")

    @pytest.mark.parametrize(
        ("name", "value"), [("dropout", 7), ("device", "meta"), ("device", "nowhere"), ("device", [])]
    )
    def test_settings_that_make_no_network(self, folder, name, value):
        description = json.loads((folder / "config.json").read_text())
        description["settings"][name] = value
        rewrite(folder, description)
        with pytest.raises(UserError, match=r"dropout|device") as caught:
            pts3h.Hasher.load(folder).encode(VECTORS)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("asked", [3, [1], {"bats": 1}, {"bits": -1}, {"bits": "x"}])
    def test_nothing_that_can_be_asked_for(self, folder, asked):
        description = json.loads((folder / "config.json").read_text())
        rewrite(folder, description | {"asked": asked})
        with pytest.raises(UserError) as caught:
            pts3h.Hasher.load(folder)
        assert "\n" not in str(caught.value)

    def test_brackets_without_end(self, folder):
        (folder / "config.json").write_text("[" * 100_000)
        self.refused(folder, "cannot be read as a model")

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
