"""Picture files, compared with what Pillow makes of them; and those that are not what they seem."""

import hashlib
import io
import struct
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageOps

from pts3h.data import decoding
from pts3h.data.decoding import BrokenImage, decode_file, image_size, picture_key
from pts3h.data.formats import readable_formats
from pts3h.util.budget import Budget
from tests.pictures import smooth


@pytest.mark.parametrize(("width", "height"), [(60, 40), (40, 60), (33, 100), (16, 16)])
def test_short_side_is_scaled_and_the_centre_cut_out(tmp_path, width, height):
    image = Image.fromarray(smooth(height, width))
    image.save(tmp_path / "a.png")
    scale = 32 / min(width, height)
    scaled = image.resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR)
    left, top = (scaled.width - 32) // 2, (scaled.height - 32) // 2
    expected = np.asarray(scaled.crop((left, top, left + 32, top + 32))).transpose(2, 0, 1)
    difference = decode_file(tmp_path / "a.png", 32).astype(int) - expected
    assert np.abs(difference).max() <= 6


def test_a_photo_taken_sideways_stands_upright(tmp_path):
    image = Image.fromarray(smooth(40, 60))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees
    image.save(tmp_path / "turned.png", exif=exif)
    image.transpose(Image.Transpose.ROTATE_270).save(tmp_path / "upright.png")
    turned, upright = (decode_file(tmp_path / f"{name}.png", 32) for name in ("turned", "upright"))
    np.testing.assert_array_equal(turned, upright)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize("size", [20, 32, 13])
@pytest.mark.parametrize("orientation", [1, 6])
def test_ordinary_pictures_keep_their_pixels(tmp_path, mode, size, orientation):
    """Bit for bit those of the plainest way with Pillow: features and codes of before stay right."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    Image.fromarray(smooth(50, 71)).convert(mode).save(path, exif=exif)
    with Image.open(path) as stored:
        stored.draft("RGB", (size, size))
        upright = ImageOps.exif_transpose(stored).convert("RGB")
    expected = np.asarray(ImageOps.fit(upright, (size, size), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    np.testing.assert_array_equal(decode_file(path, size), expected)


@pytest.mark.parametrize("kind", readable_formats())
def test_formats(tmp_path, kind):
    image = Image.fromarray(smooth(24, 24))
    image.save(tmp_path / "picture", format=kind)
    assert image_size(tmp_path / "picture") == (24, 24)
    difference = decode_file(tmp_path / "picture", 24).transpose(1, 2, 0).astype(int) - smooth(24, 24)
    assert np.abs(difference).mean() < 12  # GIF has few colours


def test_other_formats_are_not_opened(tmp_path):
    Image.fromarray(smooth(8, 8)).save(tmp_path / "a.png", format="PPM")
    with pytest.raises(BrokenImage, match=r"a\.png"):
        decode_file(tmp_path / "a.png", 8)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of what it finds in damaged files
@pytest.mark.parametrize("kind", readable_formats())
def test_damaged_files_never_raise_anything_else(tmp_path, kind):
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


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_header(width, height, colours):
    """A PNG that promises pixels and has none."""
    header = struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    "side", [13_300, 10_000, 60_000]
)  # below Pillow's limit, just above ours, above both
@pytest.mark.parametrize("colours", [0, 2, 3, 6])
def test_a_bomb_is_refused_by_its_header(tmp_path, side, colours):
    (tmp_path / "a.png").write_bytes(png_header(side, side, colours))
    with pytest.raises(BrokenImage, match=r"a\.png: too many pixels to decode safely"):
        decode_file(tmp_path / "a.png", 8)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_photo_of_108_million_pixels_is_decoded(tmp_path):
    """Phones make such pictures, and JPEG is scaled while it is decoded."""
    Image.new("L", (12_000, 9000), 77).save(tmp_path / "a.jpg")
    assert (decode_file(tmp_path / "a.jpg", 8) == 77).all()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_threads_share_the_memory(tmp_path, monkeypatch, kind):
    """However many threads decode, what they decode at a time fits into the budget."""
    Image.fromarray(smooth(64, 64)).save(tmp_path / "a", format=kind)
    expected = decode_file(tmp_path / "a", 64)
    needed = 64 * 64 * {"JPEG": 18, "PNG": 12, "WEBP": 20}[kind]
    busy, most, lock = [0], [0], threading.Lock()
    centre = decoding.centre

    def watched(image, size):
        with lock:
            busy[0] += needed
            most[0] = max(most[0], busy[0])
        try:
            return centre(image, size)
        finally:
            with lock:
                busy[0] -= needed

    monkeypatch.setattr(decoding, "centre", watched)
    monkeypatch.setattr(decoding, "MEMORY", Budget(2 * needed + needed // 2))
    with ThreadPoolExecutor(16) as threads:
        for pixels in threads.map(lambda _: decode_file(tmp_path / "a", 64), range(64)):
            np.testing.assert_array_equal(pixels, expected)
    assert 0 < most[0] <= 2 * needed
    monkeypatch.setattr(decoding, "MEMORY", Budget(needed - 1))
    with pytest.raises(BrokenImage, match="too many pixels"):
        decode_file(tmp_path / "a", 64)


GRADIENT = np.linspace(0, 1, 64 * 64).reshape(64, 64)


class TestDeep:
    """Grey pictures of more than 8 bits."""

    @pytest.mark.parametrize("suffix", ["png", "tif"])
    @pytest.mark.parametrize("dtype", ["<u2", ">u2"])
    def test_16_bits(self, tmp_path, suffix, dtype):
        values = np.round(GRADIENT * 65535).astype(dtype)
        Image.fromarray(values).save(tmp_path / f"a.{suffix}")
        expected = np.round(values / 257)
        np.testing.assert_array_equal(decode_file(tmp_path / f"a.{suffix}", 64), [expected] * 3)

    @pytest.mark.parametrize("white", [1, 255, 65535])
    def test_floating_point(self, tmp_path, white):
        Image.fromarray((GRADIENT * white).astype(np.float32)).save(tmp_path / "a.tif")
        difference = decode_file(tmp_path / "a.tif", 64) - GRADIENT * 255
        assert np.abs(difference).max() <= 0.51

    @pytest.mark.parametrize("white", [255, 65535])
    def test_32_bits(self, tmp_path, white):
        Image.fromarray(np.round(GRADIENT * white).astype(np.int32)).save(tmp_path / "a.tif")
        difference = decode_file(tmp_path / "a.tif", 64) - GRADIENT * 255
        assert np.abs(difference).max() <= 1

    @pytest.mark.parametrize("wrong", [-0.5, 1e9, np.nan, np.inf])
    def test_values_that_are_no_shade_of_grey(self, tmp_path, wrong):
        values = GRADIENT.astype(np.float32)
        values[30, 30] = wrong
        Image.fromarray(values).save(tmp_path / "a.tif")
        with pytest.raises(BrokenImage, match=r"a\.tif: its values lie from|a\.tif: it holds NaN") as caught:
            decode_file(tmp_path / "a.tif", 64)
        assert "\n" not in str(caught.value)

    def test_scaled_and_turned_like_any_other(self, tmp_path):
        exif = Image.Exif()
        exif[0x0112] = 6
        grey = smooth(60, 40)[..., 0]
        Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "deep.png", exif=exif)
        Image.fromarray(grey).save(tmp_path / "plain.png", exif=exif)
        deep, plain = (decode_file(tmp_path / f"{name}.png", 20).astype(int) for name in ("deep", "plain"))
        assert np.abs(deep - plain).max() <= 1


def transparent():
    """(24, 24, 4): colours that are visible, half visible and hidden."""
    pixels = np.dstack([smooth(24, 24), np.full((24, 24), 255, np.uint8)])
    pixels[:8, :, 3], pixels[8:16, :, 3] = 0, 100
    return pixels


class TestTransparent:
    @pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
    @pytest.mark.parametrize("mode", ["RGBA", "LA"])
    def test_what_is_hidden_is_white(self, tmp_path, kind, mode):
        if (kind, mode) == ("WEBP", "LA"):
            mode = "RGBA"
        image = Image.fromarray(transparent()).convert(mode)
        image.save(tmp_path / "a", format=kind, **({"lossless": True} if kind == "WEBP" else {}))
        colours = np.asarray(image.convert("RGBA"))[..., :3].astype(float)
        share = transparent()[..., 3:] / 255
        expected = (colours * share + 255 * (1 - share)).transpose(2, 0, 1)
        assert np.abs(decode_file(tmp_path / "a", 24) - expected).max() <= 1
        assert (decode_file(tmp_path / "a", 24)[:, :8] == 255).all()

    @pytest.mark.parametrize("kind", ["PNG", "GIF"])
    def test_a_colour_of_a_palette(self, tmp_path, kind):
        image = Image.new("P", (16, 16), 1)
        image.putpalette([200, 0, 0, 0, 90, 0] + [0] * 762)
        image.paste(0, (0, 0, 16, 8))
        image.save(tmp_path / "a", format=kind, transparency=0)
        pixels = decode_file(tmp_path / "a", 16)
        assert (pixels[:, :8] == 255).all() and (pixels[:, 8:] == [[[0]], [[90]], [[0]]]).all()

    @pytest.mark.parametrize(("mode", "colour", "key"), [("L", 7, 7), ("RGB", (1, 2, 3), (1, 2, 3))])
    def test_a_colour_that_stands_for_nothing(self, tmp_path, mode, colour, key):
        image = Image.new(mode, (16, 16), "green")
        image.paste(colour, (0, 0, 16, 8))
        visible = np.asarray(image.convert("RGB"))[12, 12]
        image.save(tmp_path / "a.png", transparency=key)
        pixels = decode_file(tmp_path / "a.png", 16)
        assert (pixels[:, :8] == 255).all() and (pixels[:, 8:] == visible[:, None, None]).all()


class TestKeys:
    """Features are kept under these: what is decoded differently now must not find those of before."""

    def is_plain(self, path):
        return picture_key(path) == hashlib.sha256(path.read_bytes()).digest()

    @pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK"])
    def test_ordinary_pictures_have_the_digest_of_their_content(self, tmp_path, mode):
        path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
        Image.fromarray(smooth(9, 9)).convert(mode).save(path)
        assert self.is_plain(path)

    @pytest.mark.parametrize("mode", ["RGBA", "LA", "I;16", "F", "I"])
    def test_deep_and_transparent_ones_have_another(self, tmp_path, mode):
        grey = smooth(9, 9)[..., 0]
        deep = {"I;16": np.uint16, "F": np.float32, "I": np.int32}
        image = (
            Image.fromarray(grey.astype(deep[mode])) if mode in deep else Image.fromarray(grey).convert(mode)
        )
        image.save(tmp_path / "a.tif")
        assert not self.is_plain(tmp_path / "a.tif") and len(picture_key(tmp_path / "a.tif")) == 32

    def test_what_is_no_picture(self, tmp_path):
        (tmp_path / "a.png").write_text("no picture")
        assert self.is_plain(tmp_path / "a.png") and picture_key(tmp_path / "none.png") == b""
