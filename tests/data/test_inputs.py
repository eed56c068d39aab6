"""What the networks are fed."""

import numpy as np
import pytest
import torch

from pts3h.data.batches import Share
from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs, MapInputs, VectorInputs
from pts3h.data.views import ImageViews, VectorViews
from tests.pictures import pictures

POSITIONS = np.array([5, 0, 3])
VECTORS = np.random.default_rng(0).normal(3, 2, (50, 7)).astype(np.float32)
PLAIN = VectorViews(noise=0, dropout=0)


class TestVectors:
    def test_clean_is_the_vectors(self):
        np.testing.assert_array_equal(
            VectorInputs(VECTORS, VectorViews()).clean(POSITIONS), VECTORS[POSITIONS]
        )

    def test_center_and_spread_are_the_vectors_own(self):
        inputs = VectorInputs(VECTORS.astype(np.float16), PLAIN)
        center, spread = inputs.standard
        np.testing.assert_allclose(center, VECTORS.astype(float).mean(axis=0), rtol=1e-3)
        np.testing.assert_allclose(spread, VECTORS.astype(float).std(axis=0), rtol=1e-3)

    def test_center_and_spread_are_of_those_that_take_part(self):
        members = np.array([3, 4, 20, 31])
        center, spread = VectorInputs(VECTORS, PLAIN, members).standard
        np.testing.assert_allclose(center, VECTORS[members].mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(spread, VECTORS[members].std(axis=0), rtol=1e-5)

    def test_of_copies_the_clean_ones_count(self):
        copies = np.stack([VECTORS, VECTORS + 100], axis=1)
        center, spread = VectorInputs(copies, PLAIN).standard
        np.testing.assert_allclose(center, VECTORS.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(spread, VECTORS.std(axis=0), rtol=1e-5)

    def test_rows_are_the_clean_vectors(self):
        copies = np.stack([VECTORS, VECTORS + 100], axis=1).astype(np.float16)
        rows = VectorInputs(copies, VectorViews(noise=1.0)).rows(POSITIONS)
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, VECTORS[POSITIONS].astype(np.float16))

    def test_views_depend_on_the_seed_alone(self):
        inputs = VectorInputs(VECTORS, VectorViews(noise=0.3))
        first, again, other = (inputs.two_views(POSITIONS, seed) for seed in (1, 1, 2))
        assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
        assert not torch.equal(first[0], first[1]) and not torch.equal(first[0], other[0])

    def test_smaller_copies_are_not_typical(self):
        inputs = VectorInputs(COPIES, VectorViews(noise=0.3), steady=True, smaller=True)
        first, second = inputs.two_views(POSITIONS, 1)
        np.testing.assert_array_equal(second, inputs.clean(POSITIONS))
        np.testing.assert_array_equal(inputs.typical(POSITIONS), inputs.clean(POSITIONS))
        assert not torch.equal(first, second)

    def test_a_steady_second_view_is_the_mean_of_the_copies(self):
        copies = np.stack([VECTORS, VECTORS + 4], axis=1)
        plain, steady = (VectorInputs(copies, VectorViews(noise=0.3), steady=mean) for mean in (False, True))
        (first, second), (same, mean) = (inputs.two_views(POSITIONS, 1) for inputs in (plain, steady))
        assert torch.equal(first, same) and not torch.equal(second, mean)
        np.testing.assert_allclose(mean, VECTORS[POSITIONS] + 2, rtol=1e-5)

    def test_cached_copies_the_clean_one_first(self):
        """Entry (i, c) holds 10 i + c: two different copies of the right item are drawn, all as often."""
        array = (10 * np.arange(6)[:, None, None] + np.arange(4)[None, :, None]).astype(np.float16)
        inputs = VectorInputs(array, PLAIN)
        assert inputs.clean(POSITIONS)[:, 0].tolist() == [50, 0, 30]
        seen = np.zeros((4, 4), int)
        for seed in range(1000):
            first, second = (view[:, 0].numpy().astype(int) for view in inputs.two_views(POSITIONS, seed))
            assert (first // 10 == POSITIONS).all() and (second // 10 == POSITIONS).all()
            np.add.at(seen, (first % 10, second % 10), 1)
        assert (np.diag(seen) == 0).all()
        assert seen[~np.eye(4, dtype=bool)].min() > 190  # 250 on average

    def test_one_copy_gives_equal_views_unless_perturbed(self):
        first, second = VectorInputs(VECTORS, PLAIN).two_views(POSITIONS, 0)
        assert torch.equal(first, second)

    @pytest.mark.parametrize("kind", [np.float16, np.float64])
    def test_networks_get_single_precision(self, kind):
        inputs = VectorInputs(VECTORS.astype(kind), VectorViews())
        assert inputs.clean(POSITIONS).dtype == inputs.two_views(POSITIONS, 0)[0].dtype == torch.float32


class TestMaps:
    COPIES = np.stack([VECTORS, VECTORS + 100, VECTORS + 200], axis=1).astype(np.float16)

    def test_the_student_sees_copies_and_the_teacher_the_picture(self):
        positions = np.arange(50)
        view_1, view_2 = MapInputs(self.COPIES).two_views(positions, seed=0)
        np.testing.assert_array_equal(view_2, self.COPIES[:, 0].astype(np.float32))
        copies = np.round((view_1.numpy() - VECTORS).mean(axis=1) / 100).astype(int)
        assert set(copies) == {1, 2}
        np.testing.assert_array_equal(view_1, self.COPIES[positions, copies].astype(np.float32))

    def test_views_follow_the_seed(self):
        inputs = MapInputs(self.COPIES)
        first, again, other = (inputs.two_views(np.arange(50), seed=seed)[0] for seed in (3, 3, 4))
        assert torch.equal(first, again) and not torch.equal(first, other)

    def test_without_copies_both_see_the_picture(self):
        for view in MapInputs(self.COPIES[:, :1]).two_views(POSITIONS, seed=0):
            np.testing.assert_array_equal(view, self.COPIES[POSITIONS, 0].astype(np.float32))

    def test_a_share_sees_what_all_would(self):
        inputs, share = MapInputs(self.COPIES), Share(1, 3, 3)
        parts, wholes = inputs.two_views(POSITIONS, 1, share), inputs.two_views(POSITIONS, 1)
        assert all(torch.equal(part, whole[1:3]) for part, whole in zip(parts, wholes, strict=True))


class TestImages:
    def test_clean_is_in_0_to_1(self):
        images, _ = pictures(6)
        clean = ImageInputs(ImageArray(images), 32, ImageViews()).clean(POSITIONS)
        np.testing.assert_allclose(clean, images[POSITIONS].transpose(0, 3, 1, 2) / 255, atol=1e-7)

    def test_rows_are_flat_and_there_is_no_mean(self):
        images, _ = pictures(6)
        inputs = ImageInputs(ImageArray(images), 32)
        expected = images[POSITIONS].transpose(0, 3, 1, 2).reshape(3, -1) / 255
        np.testing.assert_allclose(inputs.rows(POSITIONS), expected, atol=1e-7)
        assert inputs.standard is None

    def test_views_depend_on_the_seed_alone(self):
        inputs = ImageInputs(ImageArray(pictures(6)[0]), 16, ImageViews())
        first, again, other = (inputs.two_views(POSITIONS, seed) for seed in (1, 1, 2))
        assert first[0].shape == first[1].shape == (3, 3, 16, 16)
        assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
        assert not torch.equal(first[0], first[1]) and not torch.equal(first[0], other[0])


COPIES = np.stack([VECTORS, VECTORS + 1, VECTORS + 2], axis=1)


@pytest.mark.parametrize(
    "inputs",
    [
        VectorInputs(VECTORS, VectorViews(noise=0.3, dropout=0.2)),
        VectorInputs(VECTORS, VectorViews(noise=0.0, dropout=0.2)),
        VectorInputs(COPIES, PLAIN),
        VectorInputs(COPIES, VectorViews(noise=0.3, dropout=0.0), steady=True),
        ImageInputs(ImageArray(pictures(50, side=12)[0]), 12, ImageViews()),
        ImageInputs(ImageArray(pictures(50, side=12)[0]), 12, ImageViews(jitter=0.0)),
    ],
    ids=["vectors", "dropout alone", "copies", "steady", "pictures", "colours as they are"],
)
class TestShares:
    positions = np.random.default_rng(1).permutation(50)[:11]

    @pytest.mark.parametrize(("start", "stop"), [(0, 5), (5, 11), (3, 4), (0, 11), (6, 6)])
    def test_an_item_looks_the_same_whoever_makes_its_views(self, inputs, start, stop):
        whole = inputs.two_views(self.positions, 7)
        part = inputs.two_views(self.positions, 7, Share(start, stop, 11))
        for view, all_of_it in zip(part, whole, strict=True):
            torch.testing.assert_close(view, all_of_it[start:stop], atol=1e-6, rtol=0)

    def test_nobody_else_s_items_are_looked_at(self, inputs, monkeypatch):
        seen, looks = [], "load" if isinstance(inputs, ImageInputs) else "_take"
        where = inputs.images if isinstance(inputs, ImageInputs) else inputs
        original = getattr(where, looks)
        monkeypatch.setattr(
            where, looks, lambda positions, *rest: seen.extend(positions) or original(positions, *rest)
        )
        inputs.two_views(self.positions, 7, Share(2, 6, 11))
        assert set(seen) == set(self.positions[2:6])
