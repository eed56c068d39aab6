"""The feature cache in trouble: damaged files, full disks, killed processes, a bound that is reached."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pts3h import UserError
from pts3h.cache import segment
from pts3h.data.images import ImageArray
from pts3h.data.views import ImageViews
from pts3h.nets.feature_cache import FrozenBackbone
from pts3h.util.files import cache_folder
from tests.nets.frozen import OPTIONS, direct
from tests.pictures import pictures

PROJECT = Path(__file__).parents[2]


class TestDamage:
    @pytest.mark.parametrize("suffix", ["rows", "keys"])
    @pytest.mark.parametrize("damage", ["flipped", "cut short", "gone"])
    def test_is_noticed_and_mended(self, frozen, images, calls, suffix, damage):
        whole = frozen.cached(images, **OPTIONS).array.copy()
        (file,) = cache_folder("features").glob(f"small-*/*/*.{suffix}")
        raw = np.frombuffer(file.read_bytes(), np.uint8).copy()
        if damage == "flipped":
            raw[len(raw) // 2] ^= 255
            file.write_bytes(raw.tobytes())
        elif damage == "cut short":
            file.write_bytes(raw[: len(raw) // 2 - 20].tobytes())
        else:
            file.unlink()
        calls.clear()
        for _ in range(2):
            np.testing.assert_allclose(frozen.cached(images, **OPTIONS).array, whole, atol=2e-3, rtol=2e-3)
        lost = {"flipped": 1, "cut short": 11, "gone": 20}[damage]
        assert calls == [lost] * 3

    def test_what_cannot_be_read_back_is_computed_into_memory(self, frozen, backbone, images, monkeypatch):
        monkeypatch.setattr(segment, "write_at", lambda file, content, offset: None)
        got = frozen.cached(images, **OPTIONS)
        assert got.broken == {}
        np.testing.assert_allclose(got.array, direct(backbone, images), atol=2e-3, rtol=2e-3)


class TestFullDisk:
    def test_said_before_any_work_and_nothing_is_left(self, frozen, images, calls, small_disk, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
        many = ImageArray(pictures(200)[0])  # 300 KB of features
        with pytest.raises(UserError, match="the disk is full; free some space"):
            frozen.cached(many, **OPTIONS)
        assert calls == [] and not sum(path.stat().st_size for path in small_disk.rglob("*.rows"))

    def test_pictures_are_encoded_all_the_same(self, frozen, backbone, images, small_disk, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
        many = ImageArray(pictures(200)[0])  # 100 KB of features
        with pytest.warns(UserWarning, match="computed but not kept: .* the disk is full"):
            got = frozen.clean(many, size=16)
        np.testing.assert_allclose(got.array, direct(backbone, many, copies=0), atol=2e-3, rtol=2e-3)

    def test_space_is_taken_before_the_work(self, frozen, images, monkeypatch):
        run = FrozenBackbone.__call__

        def look(self, x):
            (file,) = cache_folder("features").glob("small-*/*/*.rows")
            assert file.stat().st_blocks * 512 >= 20 * 3 * 256 * 2
            return run(self, x)

        monkeypatch.setattr(FrozenBackbone, "__call__", look)
        frozen.cached(images, **OPTIONS)


class TestBound:
    def test_what_was_used_last_stays(self, frozen, images, calls, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE_LIMIT", "35KB")  # one kind takes 20 * (3 * 512 + 36) bytes
        frozen.cached(images, **OPTIONS)
        frozen.cached(images, **OPTIONS | {"views": ImageViews(flip=0)})
        calls.clear()
        frozen.cached(images, **OPTIONS | {"views": ImageViews(flip=0)})
        assert calls == []
        frozen.cached(images, **OPTIONS)
        assert calls == [20, 20]  # the copies; the clean features were beside the others

    def test_what_is_in_use_stays(self, frozen, images, calls, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE_LIMIT", "35KB")
        used = frozen.cached(images, **OPTIONS).array
        frozen.cached(images, **OPTIONS | {"views": ImageViews(flip=0)})
        calls.clear()
        frozen.cached(images, **OPTIONS)
        assert calls == [] and used.any()

    def test_a_wrong_limit_is_said_before_any_work(self, frozen, images, calls, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE_LIMIT", "much")
        for compute in (partial(frozen.clean, size=16), partial(frozen.cached, **OPTIONS)):
            with pytest.raises(UserError, match="PTS3H_CACHE_LIMIT must be a size such as 5GB"):
                compute(images)
        assert calls == []


FILLING = """
import os, signal, sys
import numpy as np, torch
from pts3h.nets import feature_cache
from pts3h.nets.backbones.small import SmallConv
from pts3h.data.images import ImageArray
from tests.nets.frozen import OPTIONS, trained_looking
from tests.pictures import pictures
feature_cache.BATCH, killed_after, computed = 4, int(sys.argv[1]), []
run = feature_cache.FrozenBackbone.__call__

def counted(self, images):
    if len(computed) == killed_after:
        os.kill(os.getpid(), signal.SIGKILL)
    computed.append(len(images))
    return run(self, images)

feature_cache.FrozenBackbone.__call__ = counted
torch.manual_seed(0)
frozen = feature_cache.FrozenBackbone(trained_looking(SmallConv()), name="small")
np.save(sys.argv[2], frozen.cached(ImageArray(pictures(20)[0]), **OPTIONS, progress=False).array)
print(sum(computed))
"""


class TestProcesses:
    def begin(self, out, killed_after=-1):
        arguments = [sys.executable, "-c", FILLING, str(killed_after), str(out)]
        return subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True)

    def test_three_at_once_compute_it_once(self, tmp_path, frozen, backbone, images):
        running = [self.begin(tmp_path / f"{n}.npy") for n in range(3)]
        computed = [int(process.communicate()[0]) for process in running]
        assert sum(computed) == 20 * 3
        for n in range(3):
            array = np.load(tmp_path / f"{n}.npy")
            np.testing.assert_allclose(array, direct(backbone, images), atol=2e-3, rtol=2e-3)

    def test_kill_9_and_again(self, tmp_path, backbone, images):
        killed = self.begin(tmp_path / "never.npy", killed_after=3 * 2 + 1)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        assert int(self.begin(tmp_path / "a.npy").communicate()[0]) == 12 * 3  # two batches of five were kept
        np.testing.assert_allclose(
            np.load(tmp_path / "a.npy"), direct(backbone, images), atol=2e-3, rtol=2e-3
        )
