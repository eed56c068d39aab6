"""Which items a page looks at, and how many codes they have."""

from collections import Counter

import numpy as np
import pytest

from pts3h.codes import Layout
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.errors import UserError
from pts3h.report import coded as module
from pts3h.report.coded import draw_known, encode_for_page
from tests.model.models import PAIRS, SMALL, VECTORS, fitted
from tests.pictures import pictures, write_pictures
from tests.report.pages import coded

KNOWN = PairList(40, PAIRS[:3])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_everything_that_a_frozen_network_encodes(rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_ITEMS", 10)
    hasher = fitted()
    found = encode_for_page(hasher.model, read_items(VECTORS), KNOWN, rng)
    np.testing.assert_array_equal(found.codes, hasher.encode(VECTORS))
    assert found.positions.tolist() == found.chance.tolist() == list(range(40)) and not found.is_sample
    assert found.pairs.tolist() == sorted({*PAIRS[:3, :2].ravel().tolist()})
    assert found.noun == "vectors"


def test_a_sample_where_the_whole_network_was_trained(rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_ITEMS", 10)
    images, _ = pictures(40, side=16)
    hasher = fitted(images, **SMALL, freeze=False)
    found = encode_for_page(hasher.model, read_items(images), KNOWN, rng)
    ends = {*PAIRS[:3, :2].ravel().tolist()}
    drawn = found.positions[found.chance].tolist()
    assert len(drawn) == 10 and found.is_sample and found.noun == "pictures"
    assert {*found.positions[found.pairs].tolist()} == ends
    assert {*found.positions.tolist()} == ends | {*drawn}
    np.testing.assert_array_equal(found.codes, hasher.encode(images)[found.positions])
    assert found.groups().sum() == 10


def test_pictures_that_cannot_be_read(rng, tmp_path):
    write_pictures(tmp_path / "photos", 40, side=16)
    model = fitted(tmp_path / "photos", **SMALL, freeze=False).model
    (tmp_path / "photos" / "07.png").write_text("no picture")
    found = encode_for_page(model, read_items(tmp_path / "photos"), PairList(40, PAIRS), rng)
    assert [*found.skipped] == ["07.png"] and not found.is_sample
    assert found.positions.tolist() == [*range(7), *range(8, 40)]
    assert 7 not in found.positions[found.pairs] and len(found.codes) == 39
    for path in (tmp_path / "photos").iterdir():
        path.write_text("no picture")
    with pytest.raises(UserError, match="none of the 40 pictures can be read, the first"):
        encode_for_page(model, read_items(tmp_path / "photos"), None, rng)


def test_groups_of_equal_codes():
    some = coded(100, Layout(4), chance=np.arange(0, 100, 2))
    sizes = Counter(code.tobytes() for code in some.codes[::2])
    assert sorted(some.groups().tolist()) == sorted(sizes.values())


@pytest.mark.parametrize(
    "known", [LabelPairs(np.arange(60) % 3), PairList(60, [(a, a + 1, a % 2) for a in range(59)])]
)
def test_many_known_pairs_are_sampled(known, rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_UNITS", 7)
    found = draw_known(known, rng)
    assert 7 <= len(found) <= 7 * known.items_per_unit and len(np.unique(found)) == len(found)
