"""The library as a user with pictures meets it."""

import numpy as np
import pytest
from PIL import Image

from pts3h import Hasher, SkippedWarning, UserError, evaluate


def few(classes, count=24):
    labels = np.full(len(classes), -1)
    labels[:count] = classes[:count]
    return labels


@pytest.fixture(scope="module")
def pictures():
    """Bright or dark pictures with noise: (pixels, classes)."""
    rng = np.random.default_rng(0)
    classes = np.arange(48) % 3
    colours = np.array([[200, 60, 60], [60, 200, 60], [60, 60, 200]])
    noise = rng.integers(-50, 50, (48, 32, 32, 3))
    return np.clip(colours[classes][:, None, None] + noise, 0, 255).astype(np.uint8), classes


IMAGE = {"bits": 12, "steps": 30, "image_size": 32, "labelled_per_batch": 8, "unlabelled_per_batch": 8}


@pytest.mark.parametrize(
    "settings",
    [
        {},  # frozen efficientnet-lite0
        {"freeze": False, "learning_rate": 1e-3},  # head first, then the whole network
        {"backbone": "small", "image_size": 32},  # from nothing
    ],
    ids=["frozen", "fine-tuned", "small"],
)
def test_pictures(pictures, settings, tmp_path):
    pixels, classes = pictures
    if settings.get("freeze") is False:
        settings = settings | {"steps": 4}
    hasher = Hasher(**IMAGE | settings).fit(pixels, labels=few(classes), out=tmp_path / "model")
    codes = hasher.encode(pixels)
    np.testing.assert_array_equal(Hasher.load(tmp_path / "model").encode(pixels), codes)
    if settings.get("backbone") != "small":  # which learns nothing in a few steps; a third would be chance
        assert evaluate(codes[24:], codes[:24], labels=(classes[24:], classes[:24]), bits=12).map > 0.6


def test_the_feature_cache_changes_no_code(pictures, tmp_path, monkeypatch):
    pixels, classes = pictures
    hasher = Hasher(**IMAGE).fit(pixels, labels=few(classes))
    cached = hasher.encode(pixels)
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "empty"))
    np.testing.assert_array_equal(hasher.encode(pixels), cached)


def test_broken_pictures_are_skipped_counted_and_named(pictures, tmp_path):
    pixels, classes = pictures
    folder = tmp_path / "photos"
    for number, (picture, label) in enumerate(zip(pixels, classes, strict=True)):
        place = folder / "abc"[label]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{number:02}.png")
    (folder / "a" / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    with pytest.warns(SkippedWarning, match=r"1 of 49 pictures cannot be read.*broken\.jpg"):
        hasher = Hasher(**IMAGE).fit(folder, labels="folder")
    assert list(hasher.skipped) == ["a/broken.jpg"]
    with pytest.raises(UserError, match=r"1 of 49 .*broken\.jpg"):
        hasher.encode(folder)
    outputs, broken = hasher.outputs(folder)
    assert outputs.shape == (49, 12) and len(broken) == 1
