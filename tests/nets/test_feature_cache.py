"""The feature cache: computed once, resumed where it was, keyed by what shapes it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image

from pts3h import UserError
from pts3h.data.images import ImageArray, ImageFiles
from pts3h.data.views import ImageViews
from pts3h.nets import feature_cache as features
from pts3h.nets.backbones.efficientnet import EfficientNetLite
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.feature_cache import FrozenBackbone, fold_norms
from pts3h.util.files import cache_folder
from tests.pictures import pictures, write_pictures

OPTIONS = {"size": 16, "copies": 2, "views": ImageViews()}


def trained_looking(net):
    """Norms with statistics of their own, as training leaves them."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.2)
    return net.eval()


@pytest.fixture
def backbone():
    torch.manual_seed(0)
    return trained_looking(SmallConv())


@pytest.fixture
def frozen(backbone):
    return FrozenBackbone(backbone, name="small")


@pytest.fixture
def images():
    return ImageArray(pictures(20)[0])


@pytest.fixture
def small_batches(monkeypatch):
    """Six batches for twenty pictures, with a note of progress after each."""
    monkeypatch.setattr(features, "BATCH", 4)
    monkeypatch.setattr(features, "SAVE_EVERY", 1)


@pytest.fixture
def calls(monkeypatch):
    """How many pictures went through the network, batch by batch."""
    counted = []
    run = FrozenBackbone.__call__
    monkeypatch.setattr(FrozenBackbone, "__call__", lambda self, x: counted.append(len(x)) or run(self, x))
    return counted


def test_progress_counts_the_images(frozen, images, small_batches, capsys):
    for mode, size in ((False, 24), ("lines", 32)):
        for compute in (frozen.clean, partial(frozen.cached, copies=0, views=ImageViews())):
            compute(images, size=size, progress=mode)
            said = capsys.readouterr().err
            assert said.startswith("features: 20 of 20 images, done in ") if mode else said == ""


@pytest.mark.parametrize("make", [SmallConv, lambda: EfficientNetLite("efficientnet-lite0")])
def test_the_folded_network_computes_the_same(make):
    torch.manual_seed(0)
    net = trained_looking(make())
    x = torch.rand(4, 3, 32, 32)
    with torch.inference_mode():
        expected = net(x)
        frozen = FrozenBackbone(net, name="net")
        folded = frozen.net(x)
    assert not any(isinstance(m, torch.nn.BatchNorm2d) for m in frozen.net.modules())
    scale = expected.abs().max()
    torch.testing.assert_close(folded / scale, expected / scale, atol=1e-4, rtol=0)
    torch.testing.assert_close(frozen(x), expected.half().float(), atol=2e-3 * scale.item(), rtol=2e-3)
    assert torch.equal(net(x), expected)  # the given network stays as it was


def test_only_norms_right_after_a_convolution_are_folded():
    net = torch.nn.Sequential(
        torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 4, 1), torch.nn.ReLU(), torch.nn.BatchNorm2d(4)
    )
    assert sum(isinstance(m, torch.nn.BatchNorm2d) for m in fold_norms(trained_looking(net))) == 2


class TestCache:
    def test_equals_direct_computation(self, frozen, backbone, images):
        cached = frozen.cached(images, **OPTIONS)
        assert cached.array.shape == (20, 3, 256) and cached.array.dtype == np.float16 and cached.broken == {}
        clean = torch.from_numpy(images.load(np.arange(20), 16).pixels).float() / 255
        source = torch.Generator().manual_seed(0)  # one batch, which starts at item 0
        copies = [clean, *(ImageViews()(clean, source) for _ in range(2))]
        with torch.inference_mode():
            expected = torch.stack([backbone(copy) for copy in copies], dim=1)
        np.testing.assert_allclose(cached.array, expected, atol=2e-3, rtol=2e-3)

    def test_the_second_time_nothing_is_computed(self, frozen, images, calls):
        first = frozen.cached(images, **OPTIONS)
        assert calls == [20] * 3  # the pictures and two copies of each
        again = frozen.cached(images, **OPTIONS)
        clean = frozen.clean(images, size=16)
        assert len(calls) == 3
        np.testing.assert_array_equal(again.array, first.array)
        np.testing.assert_array_equal(clean.array, first.array)
        assert isinstance(again.array, np.memmap)

    def test_clean_features_are_not_kept(self, frozen, images, calls):
        fresh = frozen.clean(images, size=16).array
        assert fresh.shape == (20, 1, 256) and not list(cache_folder("features").iterdir())
        np.testing.assert_allclose(
            fresh[:, 0], frozen.cached(images, **OPTIONS).array[:, 0], atol=2e-3, rtol=2e-3
        )
        assert calls == [20] * 4

    def test_a_stopped_run_goes_on_to_the_identical_array(
        self, frozen, images, calls, small_batches, monkeypatch, tmp_path
    ):
        whole = frozen.cached(images, **OPTIONS).array.copy()
        monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "other"))
        run = FrozenBackbone.__call__

        def stopped(self, x):
            if len(calls) == 3 * (5 + 3):
                raise KeyboardInterrupt
            return run(self, x)

        with monkeypatch.context() as patch:
            patch.setattr(FrozenBackbone, "__call__", stopped)
            with pytest.raises(KeyboardInterrupt):
                frozen.cached(images, **OPTIONS)
        calls.clear()
        np.testing.assert_array_equal(frozen.cached(images, **OPTIONS).array, whole)
        assert calls == [4] * 3 * 2  # two of five batches were left
        assert sorted(p.suffix for p in cache_folder("features").iterdir()) == [".json", ".lock", ".npy"]

    def test_two_at_once_compute_it_once(self, frozen, images, calls, small_batches):
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(lambda _: frozen.cached(images, **OPTIONS).array, range(2))
        np.testing.assert_array_equal(first, second)
        assert calls == [4] * 3 * 5

    @pytest.mark.parametrize(
        "change",
        [
            {"size": 24},
            {"copies": 1},
            {"views": ImageViews(flip=0)},
            {"images": ImageArray(pictures(20, seed=1)[0])},
        ],
        ids=["size", "copies", "views", "content"],
    )
    def test_what_shapes_the_features_is_part_of_the_key(self, frozen, images, calls, change):
        frozen.cached(images, **OPTIONS)
        calls.clear()
        frozen.cached(**({"images": images} | OPTIONS | change))
        assert calls

    def test_so_are_the_weights(self, frozen, images, calls):
        frozen.cached(images, **OPTIONS)
        calls.clear()
        FrozenBackbone(trained_looking(SmallConv()), name="small").cached(images, **OPTIONS)
        assert calls

    def test_a_changed_file_is_seen(self, frozen, tmp_path, calls):
        write_pictures(tmp_path, 3)
        files = ImageFiles(sorted(tmp_path.iterdir()))
        before = frozen.cached(files, **OPTIONS).array.copy()
        Image.new("RGB", (16, 16), "white").save(tmp_path / "01.png")
        after = frozen.cached(files, **OPTIONS).array
        assert np.array_equal(after[0], before[0]) and not np.array_equal(after[1], before[1])

    def test_without_copies_only_the_clean_picture(self, frozen, images):
        assert frozen.cached(images, size=16, copies=0, views=ImageViews()).array.shape == (20, 1, 256)


class TestBroken:
    def test_zero_named_and_counted(self, frozen, tmp_path, small_batches):
        write_pictures(tmp_path, 10)
        (tmp_path / "05.png").write_text("broken")
        (tmp_path / "08.png").write_bytes(b"")
        files = ImageFiles(sorted(tmp_path.iterdir()))
        fresh = frozen.clean(files, size=16)
        for got in (frozen.cached(files, **OPTIONS), frozen.cached(files, **OPTIONS), fresh):
            assert set(got.broken) == {5, 8} and "05.png" in got.broken[5]
            assert not got.array[[5, 8]].any() and got.array[[0, 1, 2, 3, 4, 6, 7, 9]].any(axis=(1, 2)).all()


class TestFullDisk:
    def test_said_before_any_work_and_nothing_is_left(self, frozen, images, calls, small_disk, monkeypatch):
        monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
        many = ImageArray(np.tile(images.pixels, (10, 1, 1, 1)))  # 300 KB of features
        with pytest.raises(UserError, match="the disk is full; free some space"):
            frozen.cached(many, **OPTIONS)
        assert calls == [] and not list((small_disk / "features").glob("*.part"))

    def test_space_is_taken_before_the_work(self, frozen, images, calls, monkeypatch):
        """A mapped file without blocks of its own would kill the process when the disk fills up."""
        run = FrozenBackbone.__call__

        def look(self, x):
            (partial,) = cache_folder("features").glob("*.part")
            assert partial.stat().st_blocks * 512 >= 20 * 3 * 256 * 2
            return run(self, x)

        monkeypatch.setattr(FrozenBackbone, "__call__", look)
        frozen.cached(images, **OPTIONS)
