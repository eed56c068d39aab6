"""Random perturbations: what stays, what changes, and how much on average."""

import numpy as np
import pytest
import torch

from pts3h.data.views import ImageViews, VectorViews, colour_jitter, random_resized_crop
from tests.pictures import pictures


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def chance(numbers, count, seed=0):
    return torch.rand((numbers, count), generator=generator(seed))


def images(count=6, side=32):
    return torch.from_numpy(pictures(count, side=side)[0]).permute(0, 3, 1, 2).float() / 255


def coordinates(count, side=64):
    """Pictures whose first two colours say how far right and how far down a pixel lies, from 0 to 1."""
    line = (torch.arange(side) + 0.5) / side
    picture = torch.stack(
        [line.expand(side, side), line.view(-1, 1).expand(side, side), torch.zeros(side, side)]
    )
    return picture.expand(count, 3, side, side)


def boxes(crops):
    """Left, right, top, bottom of the box that each crop of ``coordinates`` shows."""
    side = crops.shape[-1]
    x, y = crops[:, 0, side // 2], crops[:, 1, :, side // 2]
    spans = []
    for line in (x, y):  # away from the border, where values are clamped
        step = (line[:, 48] - line[:, 16]) / 32
        middle = (line[:, 31] + line[:, 32]) / 2
        spans += [middle - step * side / 2, middle + step * side / 2]
    return torch.stack(spans).numpy()


class TestImageViews:
    @pytest.mark.parametrize("shape", [(6, 3, 32, 32), (2, 3, 24, 40)])
    def test_shape_and_range(self, shape):
        views = ImageViews(jitter=0.9)(torch.rand(shape), generator())
        assert views.shape == shape
        assert views.min() >= 0 and views.max() <= 1

    def test_two_calls_differ_and_the_input_stays(self):
        given, source = images(), generator()
        before = given.clone()
        first, second = ImageViews()(given, source), ImageViews()(given, source)
        assert all(not torch.equal(a, b) for a, b in zip(first, second, strict=True))
        assert torch.equal(given, before)

    def test_items_are_perturbed_independently(self):
        views = ImageViews()(images(1).expand(5, -1, -1, -1), generator())
        assert all(not torch.equal(views[0], other) for other in views[1:])

    def test_the_seed_decides(self):
        assert torch.equal(ImageViews()(images(), generator(3)), ImageViews()(images(), generator(3)))

    def test_the_numbers_of_an_image_decide_over_it_alone(self):
        numbers, order = chance(8, 6), torch.tensor([3, 0, 5])
        whole, part = ImageViews().by_chance(images(), numbers), images()[order]
        torch.testing.assert_close(ImageViews().by_chance(part, numbers[:, order]), whole[order])

    @pytest.mark.parametrize("jitter", [0, 0.2])
    def test_a_generator_draws_those_numbers(self, jitter):
        views = ImageViews(jitter=jitter)
        drawn = chance(8 if jitter else 5, 6, seed=2)
        assert torch.equal(views(images(), generator(2)), views.by_chance(images(), drawn))

    @pytest.mark.parametrize(("flip", "mirrored"), [(0.0, False), (1.0, True)])
    def test_everything_switched_off_is_the_picture_or_its_mirror(self, flip, mirrored):
        views = ImageViews(scale=1, flip=flip, jitter=0)(images(), generator())
        expected = images().flip(3) if mirrored else images()
        torch.testing.assert_close(views, expected, atol=1e-5, rtol=0)

    def test_half_are_mirrored(self):
        crops = random_resized_crop(coordinates(2000), chance(5, 2000), scale=1, ratio=4 / 3, flip=0.5)
        share = (crops[:, 0, 0, 0] > crops[:, 0, 0, -1]).float().mean()
        assert abs(share - 0.5) < 0.05

    @pytest.mark.parametrize("scale", [0.2, 0.5, 0.9])
    def test_boxes(self, scale):
        """Areas are uniform from ``scale`` to 1, sides within the ratio, boxes inside and everywhere."""
        crops = random_resized_crop(coordinates(2000), chance(5, 2000), scale=scale, ratio=4 / 3, flip=0)
        left, right, top, bottom = boxes(crops)
        width, height = right - left, bottom - top
        area, ratio = width * height, width / height
        assert area.min() > scale - 1e-3 and area.max() < 1 + 1e-3
        assert abs(area.mean() - (1 + scale) / 2) < 0.02
        assert ratio.min() > 3 / 4 - 1e-3 and ratio.max() < 4 / 3 + 1e-3
        assert abs(np.log(ratio).mean()) < 0.02
        assert left.min() > -1e-3 and right.max() < 1 + 1e-3 and top.min() > -1e-3 and bottom.max() < 1 + 1e-3
        assert abs(((left + right) / 2).mean() - 0.5) < 0.01 and abs(((top + bottom) / 2).mean() - 0.5) < 0.01
        free = 1 - width > 0.05
        assert abs((left[free] / (1 - width[free])).mean() - 0.5) < 0.05


class TestColourJitter:
    def test_factors_stay_within_the_strength(self):
        grey = torch.full((500, 3, 4, 4), 0.5)  # saturation and contrast leave an even grey alone
        brightness = colour_jitter(grey, chance(3, 500), strength=0.2)[:, 0, 0, 0] / 0.5
        assert brightness.min() >= 0.8 - 1e-6 and brightness.max() <= 1.2 + 1e-6
        assert abs(brightness.mean() - 1) < 0.02 and brightness.std() > 0.1

    def test_equals_the_formula_in_double(self):
        given = torch.rand(5, 3, 8, 8)
        draws = chance(3, 5)
        saturation, contrast, brightness = 1 + 0.3 * (2 * draws.double().numpy()[..., None, None, None] - 1)
        x = given.double().numpy()
        grey = (0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2])[:, None]
        x = grey + saturation * (x - grey)
        mean = grey.mean(axis=(2, 3), keepdims=True)
        x = (mean + contrast * (x - mean)) * brightness
        got = colour_jitter(given, draws, strength=0.3)
        np.testing.assert_allclose(got.numpy(), x.clip(0, 1), atol=1e-6)


OWN = {"center": torch.linspace(-1, 1, 8), "spread": torch.arange(1.0, 9.0)}


class TestVectorViews:
    vectors = torch.randn(4000, 8, generator=generator(9)) * torch.arange(1, 9)

    def test_noise_is_in_units_of_the_spread(self):
        noise = VectorViews(noise=0.3, dropout=0)(self.vectors, generator(), **OWN) - self.vectors
        np.testing.assert_allclose(noise.std(dim=0), 0.3 * OWN["spread"], rtol=0.05)
        np.testing.assert_allclose(noise.mean(dim=0) / OWN["spread"], 0, atol=0.02)

    def test_dropped_entries_take_their_mean_and_the_others_make_up_for_it(self):
        views = VectorViews(noise=0, dropout=0.2)(self.vectors, generator(), **OWN)
        center = OWN["center"].expand_as(views)
        dropped = views == center
        assert abs(dropped.float().mean() - 0.2) < 0.01
        expected = center + (self.vectors - center) / 0.8
        torch.testing.assert_close(views[~dropped], expected[~dropped])

    def test_two_calls_differ_and_the_seed_decides(self):
        views, source = VectorViews(), generator()
        first, second = (views(self.vectors, source, **OWN) for _ in range(2))
        assert not torch.equal(first, second)
        assert torch.equal(first, views(self.vectors, generator(), **OWN))

    def test_switched_off(self):
        same = VectorViews(noise=0, dropout=0)(self.vectors, generator(), **OWN)
        assert torch.equal(same, self.vectors)
