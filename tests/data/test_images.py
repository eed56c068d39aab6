"""Pictures from files and arrays, compared with what Pillow makes of them."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from pts3h.data.images import (
    FORMATS,
    BrokenImage,
    ImageArray,
    ImageFiles,
    decode_file,
    find_images,
    image_size,
    resize_batch,
)
from tests.pictures import pictures, write_pictures


def smooth(height, width):
    """A picture without fine detail, which every way of scaling treats alike."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / width * 3 + c) + np.cos(y / height * 2 * c) for c in (1, 2, 3)]
    return np.stack([(wave + 2) * 63 for wave in waves], axis=2).astype(np.uint8)


class TestFiles:
    def test_pixels_are_pillows(self, tmp_path):
        write_pictures(tmp_path, 5)
        loaded = ImageFiles(sorted(tmp_path.iterdir())).load(np.array([3, 0]), 32)
        assert loaded.pixels.shape == (2, 3, 32, 32) and loaded.pixels.dtype == np.uint8
        for place, name in enumerate(["03.png", "00.png"]):
            expected = np.asarray(Image.open(tmp_path / name)).transpose(2, 0, 1)
            np.testing.assert_array_equal(loaded.pixels[place], expected)
        assert loaded.broken == {}

    @pytest.mark.parametrize(("width", "height"), [(60, 40), (40, 60), (33, 100), (16, 16)])
    def test_short_side_is_scaled_and_the_centre_cut_out(self, tmp_path, width, height):
        image = Image.fromarray(smooth(height, width))
        image.save(tmp_path / "a.png")
        scale = 32 / min(width, height)
        scaled = image.resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR)
        left, top = (scaled.width - 32) // 2, (scaled.height - 32) // 2
        expected = np.asarray(scaled.crop((left, top, left + 32, top + 32))).transpose(2, 0, 1)
        difference = decode_file(tmp_path / "a.png", 32).astype(int) - expected
        assert np.abs(difference).max() <= 6

    def test_a_photo_taken_sideways_stands_upright(self, tmp_path):
        image = Image.fromarray(smooth(40, 60))
        exif = Image.Exif()
        exif[0x0112] = 6  # turn by 90 degrees
        image.save(tmp_path / "turned.png", exif=exif)
        image.transpose(Image.Transpose.ROTATE_270).save(tmp_path / "upright.png")
        turned, upright = (decode_file(tmp_path / f"{name}.png", 32) for name in ("turned", "upright"))
        np.testing.assert_array_equal(turned, upright)

    @pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
    def test_every_colour_mode_becomes_three_colours(self, tmp_path, mode):
        image = Image.fromarray(smooth(20, 20)).convert(mode)
        suffix = "jpg" if mode == "CMYK" else "png"
        image.save(tmp_path / f"a.{suffix}")
        with Image.open(tmp_path / f"a.{suffix}") as stored:
            expected = np.asarray(stored.convert("RGB")).transpose(2, 0, 1)
        np.testing.assert_array_equal(decode_file(tmp_path / f"a.{suffix}", 20), expected)

    @pytest.mark.parametrize("kind", FORMATS)
    def test_formats(self, tmp_path, kind):
        image = Image.fromarray(smooth(24, 24))
        image.save(tmp_path / "picture", format=kind)
        assert image_size(tmp_path / "picture") == (24, 24)
        difference = decode_file(tmp_path / "picture", 24).transpose(1, 2, 0).astype(int) - smooth(24, 24)
        assert np.abs(difference).mean() < 12  # GIF has few colours

    def test_other_formats_are_not_opened(self, tmp_path):
        Image.fromarray(smooth(8, 8)).save(tmp_path / "a.png", format="PPM")
        with pytest.raises(BrokenImage, match=r"a\.png"):
            decode_file(tmp_path / "a.png", 8)

    def test_broken_pictures_are_black_and_named(self, tmp_path):
        write_pictures(tmp_path, 4)
        (tmp_path / "01.png").write_bytes((tmp_path / "01.png").read_bytes()[:200])
        (tmp_path / "02.png").write_text("not a picture")
        (tmp_path / "03.png").unlink()
        loaded = ImageFiles([tmp_path / f"0{n}.png" for n in range(4)]).load(np.array([3, 2, 1, 0]), 16)
        assert set(loaded.broken) == {0, 1, 2}
        assert not loaded.pixels[:3].any() and loaded.pixels[3].any()
        for place, name in enumerate(["03.png", "02.png", "01.png"]):
            assert name in loaded.broken[place] and "\n" not in loaded.broken[place]

    @pytest.mark.filterwarnings("ignore")  # Pillow warns of what it finds in damaged files
    @pytest.mark.parametrize("kind", FORMATS)
    def test_damaged_files_never_raise_anything_else(self, tmp_path, kind):
        buffer = io.BytesIO()
        Image.fromarray(smooth(24, 24)).save(buffer, format=kind)
        good = np.frombuffer(buffer.getvalue(), np.uint8)
        rng = np.random.default_rng(0)
        for number in range(60):
            bad = good.copy()
            bad[rng.integers(len(bad), size=1 + number % 8)] = rng.integers(256, size=1 + number % 8)
            path = tmp_path / "damaged"
            path.write_bytes(bad[: len(bad) if number % 3 else rng.integers(len(bad))].tobytes())
            image_size(path)
            try:
                assert decode_file(path, 16).shape == (3, 16, 16)
            except BrokenImage as error:
                assert "damaged" in str(error)

    def test_a_bomb_is_refused(self, tmp_path, monkeypatch):
        Image.fromarray(smooth(40, 40)).save(tmp_path / "a.png")
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 400)
        with pytest.raises(BrokenImage, match="too many pixels"):
            decode_file(tmp_path / "a.png", 8)

    def test_typical_side_is_the_median_of_readable_ones(self, tmp_path):
        for number, size in enumerate([(30, 50), (70, 40), (64, 64)]):
            Image.new("RGB", size).save(tmp_path / f"{number}.png")
        (tmp_path / "3.png").write_text("broken")
        assert ImageFiles(sorted(tmp_path.iterdir())).typical_side() == 40
        assert ImageFiles([tmp_path / "3.png"]).typical_side() == 0

    def test_keys_are_digests_of_the_files(self, tmp_path):
        write_pictures(tmp_path, 3)
        paths = [*sorted(tmp_path.iterdir()), tmp_path / "none.png"]
        expected = [hashlib.sha256(path.read_bytes()).digest() for path in paths[:3]] + [b""]
        files = ImageFiles(paths)
        assert files.keys() == files.keys() == expected
        assert files.subset(np.array([2, 3, 0])).keys() == [expected[2], b"", expected[0]]

    def test_what_changed_since_is_named(self, tmp_path):
        write_pictures(tmp_path, 3)
        files = ImageFiles(sorted(tmp_path.iterdir()))
        keys = files.keys()
        assert files.changed(np.arange(3), keys) == {}
        (tmp_path / "01.png").write_bytes(b"something else")
        (tmp_path / "02.png").unlink()
        changed = files.changed(np.array([2, 0, 1]), [keys[2], keys[0], keys[1]])
        assert set(changed) == {0, 2} and "02.png: changed" in changed[0] and "01.png: changed" in changed[2]


class TestArrays:
    def test_own_size_is_left_as_it_is(self):
        images, _ = pictures(5)
        loaded = ImageArray(images).load(np.array([4, 1]), 32)
        np.testing.assert_array_equal(loaded.pixels, images[[4, 1]].transpose(0, 3, 1, 2))

    @pytest.mark.parametrize(
        ("height", "width", "size"), [(32, 32, 64), (64, 64, 32), (48, 80, 32), (80, 48, 96)]
    )
    def test_scaling_is_pillows(self, height, width, size):
        image = smooth(height, width)
        expected = ImageOps.fit(Image.fromarray(image), (size, size), Image.Resampling.BILINEAR)
        difference = resize_batch(image[None], size)[0].astype(int) - np.asarray(expected)
        assert np.abs(difference).max() <= 6

    def test_keys_change_with_a_pixel_and_with_the_shape(self):
        images, _ = pictures(4)
        before = ImageArray(images).keys()
        assert len(set(before)) == 4 and ImageArray(images[::-1]).keys() == before[::-1]
        turned = ImageArray(images.reshape(4, 16, 64, 3)).keys()
        assert not set(turned) & set(before)
        images[2, 3, 4, 1] ^= 1
        after = ImageArray(images).keys()
        assert [a == b for a, b in zip(after, before, strict=True)] == [True, True, False, True]


def test_folders_are_searched_in_a_fixed_order_without_hidden_files(tmp_path):
    for name in ("b/2.PNG", "a.jpg", "b/deep/1.webp", ".hidden/3.png", "b/.4.png", "notes.txt", "b/5.jpeg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "folder.png").mkdir()
    found = [path.relative_to(tmp_path).as_posix() for path in find_images(tmp_path)]
    assert found == ["a.jpg", "b/2.PNG", "b/5.jpeg", "b/deep/1.webp"]
