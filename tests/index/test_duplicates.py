import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from pts3h.errors import UserError
from pts3h.index import duplicates, open_index
from pts3h.index.duplicates import duplicate_groups


@pytest.mark.parametrize("radius", [0, 1, 2, 5])
@pytest.mark.parametrize("text", [False, True])
def test_groups_are_the_connected_components(tmp_path, radius, text, monkeypatch):
    monkeypatch.setattr(duplicates, "SCAN", 64)
    monkeypatch.setattr(duplicates, "HITS", 100)
    rng = np.random.default_rng(radius)
    codes = rng.integers(0, 256, (400, 4), np.uint8)
    for row in range(100, 200):  # chains: each a bit or a few away from an earlier one
        codes[row] = codes[row - 100 if row < 120 else row - 20] ^ np.packbits(rng.random(32) < 0.05)
    codes[300:310] = codes[299]
    ids = [f"item {row}" if text else row * 7 - 500 for row in range(400)]
    near = np.unpackbits(codes[:, None] ^ codes[None], axis=-1).sum(-1)
    _, component = connected_components(csr_matrix(near <= radius), directed=False)
    expected = {}
    for row, number in enumerate(component):
        expected.setdefault(number, []).append(ids[row])
    expected = sorted(
        (sorted(members) for members in expected.values() if len(members) > 1), key=lambda m: (-len(m), m[0])
    )
    with open_index(tmp_path / "index", 32) as index:
        index.add(ids, codes)
        groups = duplicate_groups(index, radius)
    assert groups == expected


def test_steps_chain(tmp_path):
    codes = np.array([[0b00000000], [0b00000001], [0b00000111], [0b11111000]], np.uint8)
    with open_index(tmp_path / "index", 8) as index:
        index.add([1, 2, 3, 4], codes)
        assert duplicate_groups(index, 2) == [[1, 2, 3]]
        assert duplicate_groups(index, 1) == [[1, 2]]
        assert duplicate_groups(index, 0) == []
        with pytest.raises(UserError, match="radius must be"):
            duplicate_groups(index, 9)


def test_many_equal_codes_are_asked_about_once(tmp_path, monkeypatch):
    with open_index(tmp_path / "index", 8) as index:
        index.add(range(20_000), np.zeros((20_000, 1), np.uint8))
        asked = []
        within = index.within
        monkeypatch.setattr(
            index, "within", lambda codes, *a, **n: asked.append(len(codes)) or within(codes, *a, **n)
        )
        assert duplicate_groups(index, 2) == [list(range(20_000))]
        assert asked == [1]


def test_nothing_in_nothing(tmp_path):
    with open_index(tmp_path / "index", 8) as index:
        assert duplicate_groups(index) == []


@pytest.mark.parametrize(("by", "expected"), [(None, [[1, 2]]), ("look", [[1, 2]]), ("meaning", [[1, 3]])])
def test_codes_with_look_bits_are_compared_by_look(tmp_path, by, expected):
    codes = np.array([[0b00000000, 0b00000000], [0b11111111, 0b00000011], [0, 0b11111100]], np.uint8)
    with open_index(tmp_path / "index", 8, look_bits=8) as index:
        index.add([1, 2, 3], codes)
        assert duplicate_groups(index, 2, by=by) == expected
        assert duplicate_groups(index, 14, by="both") == [[1, 3]]
        with pytest.raises(UserError, match="radius must be a whole number from 0 to 8"):
            duplicate_groups(index, 9, by=by)
