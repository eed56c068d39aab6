"""Models that earlier versions wrote still load, with the same name and the same codes.

``golden`` holds folders as they were written then, each with the codes that it gave for the same vectors.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import pts3h
from pts3h.settings.defaults import window_alpha
from tests.model.models import VECTORS

GOLDEN = sorted((Path(__file__).parent / "golden").iterdir())
NAMES = ["format-1-epochs", "format-1-steps", "format-2"]
USED = {  # what training used, written down by hand
    "format-1-epochs": {"loss": "dpsh", "omega": 0.5, "labelled_per_batch": 8, "steps": 6},
    "format-1-steps": {"loss": "dsh", "omega": 0.6, "labelled_per_batch": 32, "steps": 7},
    "format-2": {"loss": "dpsh", "omega": 0.5, "labelled_per_batch": 8, "steps": 6},
}


def test_there_is_one_of_every_kind():
    assert [folder.name for folder in GOLDEN] == NAMES


@pytest.mark.parametrize("folder", GOLDEN, ids=NAMES)
def test_the_same_name_and_codes(folder):
    stored = json.loads((folder / "config.json").read_text())
    assert stored["format"] == int(folder.name.split("-")[1])
    model = pts3h.load_model(folder)
    assert model.fingerprint == stored["fingerprint"]
    np.testing.assert_array_equal(model.encode(VECTORS).codes, np.load(folder / "codes.npy"))


@pytest.mark.parametrize("folder", GOLDEN, ids=NAMES)
def test_what_was_used_is_known_and_nothing_is_open(folder):
    model = pts3h.load_model(folder)
    used = model.used.to_json()
    assert None not in used.values()
    assert {name: used[name] for name in USED[folder.name]} == USED[folder.name]
    assert model.used.steps == len(model.history)
    assert model.used.alpha == window_alpha(model.used.steps)
    assert model.used.similar_share == pytest.approx(35 / 120, abs=1e-4)
    assert model.used.learning_rate == 0.01 and not model.used.takes_pictures


@pytest.mark.parametrize("folder", GOLDEN, ids=NAMES)
def test_saved_again_it_is_of_the_present_format(folder, tmp_path):
    hasher = pts3h.Hasher.load(folder)
    assert (hasher.bits, hasher.settings.bits, hasher.settings.loss) == (8, 8, hasher.used.loss)
    hasher.save(tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text())["format"] == 2
    again = pts3h.load_model(tmp_path / "again")
    assert again.fingerprint == hasher.fingerprint and again.used == hasher.used
    assert "None" not in (tmp_path / "again" / "README.md").read_text()
    assert again.used.look_bits == 0
    weights = [(where / "model.safetensors").read_bytes() for where in (folder, tmp_path / "again")]
    assert weights[0] == weights[1]
