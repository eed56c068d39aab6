"""Which files of a folder are pictures, and which are left out by name."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from pts3h import SkippedWarning, UserError
from pts3h.data import formats
from pts3h.data.decoding import BrokenImage, decode_file
from pts3h.data.formats import SUFFIXES, SUFFIXES_OF, find_images, readable_formats
from pts3h.data.items import read_items
from tests.pictures import smooth, write_pictures


@pytest.fixture
def without_heic(monkeypatch):
    """As if the extra were not installed."""
    readable_formats.cache_clear()
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    yield
    readable_formats.cache_clear()


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def names_in(folder):
    return [path.relative_to(folder).as_posix() for path in find_images(folder)[0]]


def test_folders_are_searched_in_a_fixed_order_without_hidden_files(tmp_path):
    touch(tmp_path, "b/2.PNG", "a.jpg", "b/deep/1.webp", ".hidden/3.png", "b/.4.png", "notes.txt", "b/5.jpeg")
    touch(tmp_path, ".hidden/6.psd")
    (tmp_path / "folder.png").mkdir()
    assert names_in(tmp_path) == ["a.jpg", "b/2.PNG", "b/5.jpeg", "b/deep/1.webp"]
    assert not find_images(tmp_path)[1]


def test_every_suffix_of_a_format_that_is_read(tmp_path):
    files = ["a.avif", "b.jfif", "c.jpe", "d.HEIC", "e.heif", "f.hif", "g.tif", "h.apng"]
    touch(tmp_path, *files)
    assert names_in(tmp_path) == files


@pytest.mark.parametrize("kind", SUFFIXES_OF)
def test_a_suffix_says_what_is_tried_first_and_not_what_a_file_is(tmp_path, kind):
    readable_formats()
    content = io.BytesIO()
    Image.fromarray(smooth(40, 30)).save(content, format=kind)
    expected = decode_file(content.getvalue(), 24)
    for suffix in (*SUFFIXES, ".JPG", ".txt", ""):
        path = tmp_path / f"picture{suffix}"
        path.write_bytes(content.getvalue())
        np.testing.assert_array_equal(decode_file(path, 24), expected)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.JPEG", "a.webp", "a.gif"])
def test_one_picture_does_not_load_the_decoders_of_all(tmp_path, name):
    Image.fromarray(smooth(24, 24)).save(tmp_path / name)
    program = (
        "import sys; from pathlib import Path; from pts3h.data.decoding import decode_file\n"
        "decode_file(Path(sys.argv[1]), 16); print('PIL.PdfImagePlugin' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, tmp_path / name], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize(("suffix", "kind"), [("avif", "AVIF"), ("jfif", "JPEG"), ("heic", "HEIF")])
def test_they_are_read_from_a_folder(tmp_path, suffix, kind):
    readable_formats()
    Image.fromarray(smooth(64, 64)).save(tmp_path / f"a.{suffix}", format=kind, quality=90)
    items = read_items(tmp_path)
    assert list(items.ids) == [f"a.{suffix}"]
    loaded = items.images.load(np.arange(1), 64)
    difference = loaded.pixels[0].transpose(1, 2, 0).astype(int) - smooth(64, 64)
    assert loaded.broken == {} and np.abs(difference).mean() < 8


def test_what_is_left_out_is_counted_and_named(tmp_path):
    write_pictures(tmp_path, 2)
    touch(tmp_path, "a.psd", "b/c.CR2", "b/d.cr2", "notes.txt", "film.mp4")
    expected = r"^3 pictures below .* are in formats that are not read: 2 \.cr2, 1 \.psd$"
    with pytest.warns(SkippedWarning, match=expected):
        assert len(read_items(tmp_path)) == 2


def test_heic_without_its_extra(tmp_path, without_heic):
    touch(tmp_path, "a.heic", "b.HEIC")
    with pytest.raises(UserError, match=r"all pictures below .*2 \.heic \(pip install 'pts3h\[heic\]' reads"):
        read_items(tmp_path)
    write_pictures(tmp_path, 1)
    with pytest.warns(
        SkippedWarning, match=r"2 pictures .* 2 \.heic \(pip install 'pts3h\[heic\]' reads them"
    ):
        assert len(read_items(tmp_path)) == 1
    with pytest.raises(
        BrokenImage, match=r"a\.heic: HEIC pictures need an extra: pip install 'pts3h\[heic\]'"
    ):
        decode_file(tmp_path / "a.heic", 8)


def test_a_link_that_leads_nowhere_is_not_passed_over(tmp_path):
    write_pictures(tmp_path, 1)
    (tmp_path / "gone.png").symlink_to(tmp_path / "nothing.png")
    (tmp_path / "round.png").symlink_to(tmp_path / "round.png")
    items = read_items(tmp_path)
    assert list(items.ids) == ["00.png", "gone.png", "round.png"]
    assert set(items.images.load(np.arange(3), 8).broken) == {1, 2}


def test_no_suffix_is_in_two_places():
    assert len({*formats.SUFFIXES, *formats.OTHERS}) == len(formats.SUFFIXES) + len(formats.OTHERS)
