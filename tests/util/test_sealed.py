"""A value that is not the one that was sealed is noticed; what was never sealed is believed."""

import json

import pytest

from pts3h.util.sealed import sealed, unsealed

VALUE = {"name": "grün", "map": 0.1 + 0.2, "settings": {1: [2, None]}, "large": 10**20}


def test_the_same_comes_back():
    assert unsealed(json.loads(json.dumps(sealed(VALUE)))) == VALUE | {"settings": {"1": [2, None]}}


def test_every_digit_that_changes_is_noticed():
    text = json.dumps(sealed(VALUE))
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    for place in places:
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        if json.loads(changed) != json.loads(text):
            with pytest.raises(ValueError, match="checksum"):
                unsealed(json.loads(changed))


def test_what_earlier_versions_wrote():
    assert unsealed({"map": 1}) == {"map": 1}


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_no_object(value):
    with pytest.raises(ValueError, match="no JSON object"):
        unsealed(value)
