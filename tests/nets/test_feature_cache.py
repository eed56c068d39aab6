"""The feature cache: each picture computed once, resumed where it was, keyed by what shapes its features."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image

from pts3h.data.images import ImageArray, ImageFiles
from pts3h.data.views import ImageViews
from pts3h.nets import feature_cache as features
from pts3h.nets.backbones.efficientnet import EfficientNetLite
from pts3h.nets.backbones.small import SmallConv
from pts3h.nets.feature_cache import FrozenBackbone, fold_norms
from tests.nets.frozen import OPTIONS, direct, trained_looking
from tests.pictures import pictures, write_pictures


@pytest.fixture
def small_batches(monkeypatch):
    """Five batches for twenty pictures."""
    monkeypatch.setattr(features, "BATCH", 4)


def test_progress_counts_the_images(frozen, images, small_batches, capsys):
    for compute in (frozen.clean, partial(frozen.cached, copies=1, views=ImageViews())):
        for mode, size in ((False, 24), ("lines", 32)):
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
        np.testing.assert_allclose(cached.array, direct(backbone, images), atol=2e-3, rtol=2e-3)

    def test_the_copies_differ_from_the_picture_and_from_each_other(self, frozen, images):
        clean, first, second = frozen.cached(images, **OPTIONS).array.transpose(1, 0, 2)
        for one, other in ((clean, first), (clean, second), (first, second)):
            assert (one != other).any(axis=1).all()

    def test_mirrored_features_are_the_mean_of_both_sides(self, frozen, backbone, images, calls):
        turned = ImageArray(np.ascontiguousarray(images.pixels[:, :, ::-1]))
        plain = direct(backbone, images)
        expected = (plain[:, 0] + direct(backbone, turned, copies=0)[:, 0]) / 2
        cached = frozen.cached(images, **OPTIONS, mirror=True).array
        np.testing.assert_allclose(cached[:, 0], expected, atol=2e-3, rtol=2e-3)
        np.testing.assert_allclose(cached[:, 1:], plain[:, 1:], atol=2e-3, rtol=2e-3)
        calls.clear()
        np.testing.assert_array_equal(frozen.clean(images, size=16, mirror=True).array, cached[:, :1])
        assert not calls
        fresh = frozen.clean(turned, size=16, mirror=True).array
        np.testing.assert_allclose(fresh, cached[:, :1], atol=2e-3, rtol=2e-3)

    def test_copies_may_be_smaller_than_the_picture_that_is_encoded(self, frozen, backbone, images, calls):
        expected = direct(backbone, images)
        larger = frozen.clean(images, size=24, keep=False).array
        cached = frozen.cached(images, **OPTIONS | {"size": 24, "copy_size": 16}).array
        np.testing.assert_array_equal(cached[:, :1], larger)
        np.testing.assert_allclose(cached[:, 1:], expected[:, 1:], atol=2e-3, rtol=2e-3)
        calls.clear()
        np.testing.assert_array_equal(frozen.clean(images, size=24).array, larger)
        assert not calls

    def test_the_second_time_nothing_is_computed(self, frozen, images, calls):
        first = frozen.cached(images, **OPTIONS)
        assert calls == [20] * 3  # the pictures and two copies of each
        again = frozen.cached(images, **OPTIONS)
        clean = frozen.clean(images, size=16)
        assert len(calls) == 3
        np.testing.assert_array_equal(again.array, first.array)
        np.testing.assert_array_equal(clean.array, first.array[:, :1])
        assert not again.array.flags.writeable and not clean.array.flags.writeable  # mapped, not copied

    def test_clean_features_are_kept_and_training_uses_them(self, frozen, images, calls):
        fresh = frozen.clean(images, size=16).array
        assert fresh.shape == (20, 1, 256) and calls == [20]
        np.testing.assert_array_equal(frozen.clean(images, size=16).array, fresh)
        assert calls == [20]
        np.testing.assert_array_equal(frozen.cached(images, **OPTIONS).array[:, :1], fresh)
        assert calls == [20] * 3  # the two copies

    def test_only_what_is_new_is_computed(self, frozen, backbone, images, calls, capsys):
        frozen.cached(ImageArray(images.pixels[3:15]), **OPTIONS)
        calls.clear()
        cached = frozen.cached(images, **OPTIONS, progress="lines")
        assert calls == [8] * 3 and capsys.readouterr().err.startswith("features: 8 of 8 images, done")
        np.testing.assert_allclose(cached.array, direct(backbone, images), atol=2e-3, rtol=2e-3)
        calls.clear()
        frozen.clean(ImageArray(pictures(23)[0]), size=16)
        assert calls == [3]

    def test_order_and_neighbours_do_not_matter(
        self, frozen, images, calls, small_batches, tmp_path, monkeypatch
    ):
        whole = frozen.cached(images, **OPTIONS).array.copy()
        order = np.random.default_rng(0).permutation(20)
        turned = ImageArray(images.pixels[order])
        calls.clear()
        np.testing.assert_array_equal(frozen.cached(turned, **OPTIONS).array, whole[order])
        assert calls == []
        monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "other"))
        np.testing.assert_array_equal(frozen.cached(turned, **OPTIONS).array, whole[order])
        assert calls == [4] * 3 * 5

    def test_the_same_picture_twice_is_computed_once(self, frozen, images, calls):
        doubled = ImageArray(np.concatenate([images.pixels, images.pixels[::-1], images.pixels[:1]]))
        array = frozen.cached(doubled, **OPTIONS).array
        assert calls == [20] * 3
        np.testing.assert_array_equal(array[20:40], array[19::-1])
        np.testing.assert_array_equal(array[40], array[0])

    def test_a_file_has_features_wherever_it_lies(self, frozen, tmp_path, calls):
        write_pictures(tmp_path / "a", 4)
        first = frozen.cached(ImageFiles(sorted((tmp_path / "a").iterdir())), **OPTIONS).array.copy()
        (tmp_path / "a").rename(tmp_path / "b")
        shutil.copy(tmp_path / "b" / "02.png", tmp_path / "b" / "11.png")
        calls.clear()
        again = frozen.cached(ImageFiles(sorted((tmp_path / "b").iterdir())), **OPTIONS).array
        np.testing.assert_array_equal(again, first[[0, 1, 2, 3, 2]])
        assert calls == []

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

    def test_two_at_once_compute_it_once(self, frozen, images, calls, small_batches):
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(lambda _: frozen.cached(images, **OPTIONS).array, range(2))
        np.testing.assert_array_equal(first, second)
        assert calls == [4] * 3 * 5

    @pytest.mark.parametrize(
        "change",
        [
            {"size": 24},
            {"copy_size": 24},
            {"copies": 1},
            {"views": ImageViews(flip=0)},
            {"mirror": True},
            {"images": ImageArray(pictures(20, seed=1)[0])},
        ],
        ids=["size", "size of copies", "copies", "views", "mirror", "content"],
    )
    def test_what_shapes_the_features_is_part_of_the_key(self, frozen, images, calls, change):
        frozen.cached(images, **OPTIONS)
        calls.clear()
        frozen.cached(**({"images": images} | OPTIONS | change))
        assert calls

    def test_so_are_the_weights_and_the_name(self, frozen, backbone, images, calls):
        frozen.cached(images, **OPTIONS)
        calls.clear()
        FrozenBackbone(trained_looking(SmallConv()), name="small").cached(images, **OPTIONS)
        assert calls == [20] * 3
        FrozenBackbone(backbone, name="timm:a/b").cached(images, **OPTIONS)
        assert calls == [20] * 6

    def test_a_changed_file_is_seen(self, frozen, tmp_path, calls):
        write_pictures(tmp_path, 3)
        files = ImageFiles(sorted(tmp_path.iterdir()))
        before = frozen.cached(files, **OPTIONS).array.copy()
        Image.new("RGB", (16, 16), "white").save(tmp_path / "01.png")
        calls.clear()
        after = frozen.cached(files, **OPTIONS).array
        assert np.array_equal(after[[0, 2]], before[[0, 2]]) and not np.array_equal(after[1], before[1])
        assert calls == [1] * 3

    def test_a_file_that_changes_while_it_is_read_is_not_kept(self, frozen, tmp_path, calls, monkeypatch):
        write_pictures(tmp_path, 3)
        files = ImageFiles(sorted(tmp_path.iterdir()))
        load = ImageFiles.load

        def overwrite(self, positions, size):
            Image.new("RGB", (16, 16), "white").save(tmp_path / "01.png")
            return load(self, positions, size)

        with monkeypatch.context() as patch:
            patch.setattr(ImageFiles, "load", overwrite)
            got = frozen.cached(files, **OPTIONS)
        assert list(got.broken) == [1] and "01.png: changed while it was read" in got.broken[1]
        write_pictures(tmp_path, 3)  # what it was at first: nothing is known of it
        calls.clear()
        assert frozen.cached(files, **OPTIONS).broken == {} and calls == [1] * 3

    def test_without_copies_only_the_clean_picture(self, frozen, images):
        assert frozen.cached(images, size=16, copies=0, views=ImageViews()).array.shape == (20, 1, 256)


class TestBroken:
    def test_zero_named_and_counted(self, frozen, tmp_path, small_batches, calls):
        write_pictures(tmp_path, 10)
        (tmp_path / "05.png").write_text("broken")
        (tmp_path / "08.png").write_bytes(b"")
        files = ImageFiles(sorted(tmp_path.iterdir()))
        fresh = frozen.clean(files, size=16)
        for got in (frozen.cached(files, **OPTIONS), frozen.cached(files, **OPTIONS), fresh):
            assert set(got.broken) == {5, 8} and "05.png" in got.broken[5]
            assert not got.array[[5, 8]].any() and got.array[[0, 1, 2, 3, 4, 6, 7, 9]].any(axis=(1, 2)).all()
        write_pictures(tmp_path, 10)
        calls.clear()
        assert frozen.cached(files, **OPTIONS).broken == {} and sum(calls) == 2 * 3

    def test_the_same_broken_file_twice_has_two_names(self, frozen, tmp_path):
        write_pictures(tmp_path, 4)
        for name in ("01.png", "03.png"):
            (tmp_path / name).write_text("broken")
        files = ImageFiles([*sorted(tmp_path.iterdir()), tmp_path / "none.png", tmp_path / "neither.png"])
        broken = frozen.cached(files, **OPTIONS).broken
        names = {1: "01.png", 3: "03.png", 4: "none.png", 5: "neither.png"}
        assert set(broken) == set(names) and all(name in broken[place] for place, name in names.items())
