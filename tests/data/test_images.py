"""Pictures from files and arrays, compared with what Pillow makes of them."""

import hashlib
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from pts3h.data.images import ImageArray, ImageFiles, decoders
from pts3h.data.resizing import resize_batch
from tests.pictures import pictures, smooth, write_pictures

PROJECT = Path(__file__).parents[2]


class TestFiles:
    def test_pixels_are_pillows(self, tmp_path):
        write_pictures(tmp_path, 5)
        loaded = ImageFiles(sorted(tmp_path.iterdir())).load(np.array([3, 0]), 32)
        assert loaded.pixels.shape == (2, 3, 32, 32) and loaded.pixels.dtype == np.uint8
        for place, name in enumerate(["03.png", "00.png"]):
            expected = np.asarray(Image.open(tmp_path / name)).transpose(2, 0, 1)
            np.testing.assert_array_equal(loaded.pixels[place], expected)
        assert loaded.broken == {}

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


def test_as_many_pictures_are_decoded_at_a_time_as_there_are_cores(monkeypatch):
    """More threads take turns at the interpreter, and the network waits for its turn."""
    monkeypatch.setattr("pts3h.data.images.usable_cores", lambda: 3)
    lock, now, most = threading.Lock(), 0, 0

    def work(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1

    with decoders.__wrapped__() as threads:
        list(threads.map(work, range(24)))
    assert 1 < most <= 3


PEAK = """
import resource, sys, threading
from pathlib import Path
import numpy as np
from pts3h.data import decoding, images
from pts3h.data.images import ImageFiles
from pts3h.util.budget import Budget
from pts3h.util.memory import keep_freed_memory

keep_freed_memory()  # as networks do
images.usable_cores = lambda: 6
decoding.MEMORY = Budget(48 << 20)
files, peak = ImageFiles([Path(sys.argv[1])] * 48), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
decoding.image_size(files.paths[0])
before = peak()
loaded = files.load(np.arange(48), 16)
assert not loaded.broken and len([t for t in threading.enumerate() if t.name.startswith("decode")]) > 4
print((peak() - before) * (1 if sys.platform == "darwin" else 1024))
"""


def test_memory_is_bounded_however_many_threads_decode(tmp_path):
    """Each picture takes nearly all that there is. One that was freed must not stay with its thread."""
    Image.new("RGBA", (2000, 2000)).save(tmp_path / "a.png")
    command = [sys.executable, "-c", PEAK, tmp_path / "a.png"]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT).stdout)
    assert peak < 2 * (48 << 20)
