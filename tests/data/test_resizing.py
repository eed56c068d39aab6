"""Arrays of pictures, scaled by torch and by numpy: the same, but for values halfway between two levels."""

import sys

import numpy as np
import pytest

from pts3h.data.resizing import by_numpy, by_torch, resize_batch
from tests.pictures import smooth


def noise(height, width):
    return np.random.default_rng(0).integers(0, 256, (4, height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize(("old", "new"), [((32, 32), (96, 96)), ((16, 24), (48, 72)), ((20, 20), (20, 20))])
def test_whole_factors_are_the_same_bit_for_bit(old, new):
    np.testing.assert_array_equal(by_numpy(noise(*old), new), by_torch(noise(*old), new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((28, 28), (96, 96)),
        ((64, 64), (96, 96)),
        ((120, 120), (96, 96)),
        ((50, 80), (33, 53)),
        ((7, 9), (8, 10)),
    ],
)
def test_others_differ_by_one_level_and_rarely(old, new):
    ours, torchs = by_numpy(noise(*old), new).astype(int), by_torch(noise(*old), new)
    assert np.abs(ours - torchs).max() <= 1 and np.mean(ours != torchs) < 0.005


def test_without_torch(monkeypatch):
    pictures = np.stack([smooth(48, 80), smooth(48, 80)[::-1]])
    expected = resize_batch(pictures, 32)
    monkeypatch.setitem(sys.modules, "torch", None)
    found = resize_batch(pictures, 32)
    assert found.shape == expected.shape == (2, 32, 32, 3) and found.dtype == np.uint8
    assert np.abs(found.astype(int) - expected).max() <= 1
