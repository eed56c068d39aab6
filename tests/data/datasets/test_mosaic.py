"""Mosaics: every flag is right, no picture is used twice."""

import numpy as np
import pytest

from pts3h.data.datasets.mosaic import make_mosaics
from pts3h.errors import UserError

COUNT, KINDS = 60, 5


@pytest.fixture
def source():
    """Pictures of one pixel pattern each: red says which picture it is, green which class."""
    labels = np.arange(400) % KINDS
    pixels = np.zeros((400, 4, 6, 3), np.uint8)
    pixels[..., 0] = (np.arange(400) % 256)[:, None, None]
    pixels[..., 1] = labels[:, None, None]
    pixels[..., 2] = (np.arange(400) // 256)[:, None, None]
    return pixels, labels.astype(np.int64)


def tiles_of(items):
    """(count, 4, 4, 6, 3): top left, top right, bottom left, bottom right."""
    pixels = items.content.pixels
    return np.stack(
        [pixels[:, row : row + 4, column : column + 6] for row in (0, 4) for column in (0, 6)], axis=1
    )


def test_flags_say_which_classes_are_in_it(source):
    items = make_mosaics(*source, tuple("abcde"), count=COUNT, seed=1)
    assert items.content.pixels.shape == (COUNT, 8, 12, 3) and items.classes == tuple("abcde")
    for flags, tiles in zip(items.labels, tiles_of(items), strict=True):
        assert {*np.flatnonzero(flags)} == {*np.unique(tiles[..., 1])}
    counts = items.labels.sum(axis=1)
    assert {*counts} == {1, 2, 3}


def test_no_picture_is_used_twice(source):
    tiles = tiles_of(make_mosaics(*source, tuple("abcde"), count=COUNT))
    names = tiles[:, :, 0, 0].astype(int) @ [1, 0, 256]
    assert len(np.unique(names)) == 4 * COUNT
    assert (tiles == tiles[:, :, :1, :1]).all()  # each tile is one whole picture


def test_the_seed_makes_the_set(source):
    first, again, other = (make_mosaics(*source, (), count=20, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.content.pixels, again.content.pixels)
    assert (first.content.pixels != other.content.pixels).any()


def test_about_a_third_of_the_pairs_are_alike(source):
    flags = make_mosaics(np.tile(source[0][:10], (800, 1, 1, 1)), np.arange(8000) % 10, (), count=1500).labels
    alike = flags @ flags.T > 0
    assert 0.25 < alike[np.triu_indices(1500, 1)].mean() < 0.45


def test_too_many(source):
    with pytest.raises(UserError, match="ask for fewer images"):
        make_mosaics(*source, (), count=101)
