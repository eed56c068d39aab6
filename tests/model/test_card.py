"""The card of a model folder."""

import pytest

import pts3h
from tests.model.models import SMALL, fitted
from tests.pictures import pictures

KINDS = {
    "vectors": {},
    "epochs": {"steps": None, "epochs": 2.0},
    "frozen": SMALL | {"freeze": True, "views": 1},
    "fine-tuned": SMALL,
    "supervised": {"omega": 0.0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_the_model_is_and_what_was_used(tmp_path, kind):
    settings = KINDS[kind]
    of_pictures = "backbone" in settings
    items = [pictures(40, side=16)[0]] if of_pictures else []
    hasher = fitted(*items, **settings)
    hasher.save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"It turns {'pictures' if of_pictures else 'vectors of 6 numbers'} into" in card
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    for name, value in {**hasher.used.to_json(), "items": 40, "known pairs": 60}.items():
        assert f"| {name} | {value} |" in rows
    assert "None" not in card
    assert f"Fingerprint {hasher.fingerprint}, written by pts3h {pts3h.__version__}." in card
