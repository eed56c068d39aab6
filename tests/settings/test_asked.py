"""Settings: defaults by loss and data, ranges, and helpful refusals."""

import json

import numpy as np
import pytest

from pts3h import UserError
from pts3h.settings import LOSS_DEFAULTS, RANGES, Config


def made(**settings):
    return Config.from_keywords(settings)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"bits": 0}, "bits must be a whole number from 1"),
        ({"bits": 12.5}, "bits must be a whole number"),
        ({"bits": True}, "bits must be a whole number"),
        ({"bits": "64"}, "bits must be a whole number"),
        ({"loss": "triplet"}, "loss must be one of dsh, dpsh, ksh, dhn, hashnet, mihash, got 'triplet'"),
        ({"optimizer": "adam"}, "optimizer must be one of auto, sgd, adamw"),
        ({"pseudo": "both"}, "pseudo must be one of"),
        ({"omega": -1}, "omega must be between 0 and"),
        ({"omega": float("nan")}, "omega must be between"),
        ({"omega": "much"}, "omega must be a number, got 'much'"),
        ({"alpha": 1.5}, "alpha must be between 0 and 1, got 1.5"),
        ({"steps": 0}, "steps must be between 1"),
        ({"steps": 10.5}, "steps must be a whole number"),
        ({"views": True}, "views must be a whole number"),
        ({"freeze": "no"}, "freeze must be true or false, got 'no'"),
        ({"backbone": 3}, "backbone must be text"),
        ({"labelled_per_batch": 1}, "labelled_per_batch must be between 2"),
        ({"steps": 5, "epochs": 1}, "steps or epochs, not both"),
        ({"omga": 1}, "no setting 'omga': did you mean omega?"),
        ({"zzz": 1}, "no setting 'zzz'; there are bits, loss"),
    ],
)
def test_refused_in_one_line(settings, match):
    with pytest.raises(UserError, match=match) as caught:
        made(**settings)
    assert "\n" not in str(caught.value)


def test_every_range_is_of_a_setting():
    assert set(RANGES) <= set(Config().to_json())


def test_json_and_back():
    config = made(bits=48, loss="dpsh", alpha=0.99).resolved(images=True, side=32)
    assert Config(**json.loads(json.dumps(config.to_json()))) == config


def test_numpy_numbers_are_numbers():
    config = made(bits=np.int64(24), omega=np.float32(0.5), divide=np.bool_(False))
    assert json.loads(json.dumps(config.to_json()))["bits"] == 24
    assert config == Config(bits=24, omega=0.5, divide=False)


@pytest.mark.parametrize("loss", LOSS_DEFAULTS)
@pytest.mark.parametrize("images", [False, True])
def test_resolved_settings_know_everything_but_the_pairs(loss, images):
    config = Config(loss=loss).resolved(images=images, side=32)
    open_ones = {name for name, value in config.to_json().items() if value is None}
    assert open_ones == {"alpha", "similar_share", "epochs"}
    assert config.omega == LOSS_DEFAULTS[loss]["omega"]
    assert config.resolved(images=images, side=500) == config


def test_what_the_user_says_stands():
    said = {
        "omega": 0.0,
        "eta": 0.5,
        "hidden": 0,
        "noise": 0.0,
        "freeze": False,
        "learning_rate": 0.3,
        "epochs": 2.0,
    }
    config = Config(**said).resolved(images=True, side=64)
    assert {name: getattr(config, name) for name in said} == said and config.steps is None


class TestByData:
    def test_embeddings(self):
        config = Config().resolved(images=False)
        assert (config.backbone, config.optimizer, config.steps) == ("none", "sgd", 1000)
        assert config.noise == 0.2 and config.drop == 0.1

    @pytest.mark.parametrize(
        ("side", "size"), [(0, 96), (8, 96), (32, 96), (50, 128), (64, 192), (4000, 224)]
    )
    def test_frozen_pictures(self, side, size):
        config = Config().resolved(images=True, side=side)
        assert (config.backbone, config.freeze, config.image_size) == ("efficientnet-lite0", True, size)
        assert config.noise == 0 and config.drop == 0 and config.optimizer == "sgd"

    def test_fine_tuning(self):
        config = Config(freeze=False).resolved(images=True, side=64)
        assert config.warm_start and config.fixed_norm
        assert (config.optimizer, config.learning_rate, config.epochs, config.steps) == (
            "adamw",
            1e-3,
            5,
            None,
        )
        head = config.for_frozen_head()
        assert (head.optimizer, head.steps, head.freeze) == ("sgd", 1000, True)

    @pytest.mark.parametrize("settings", [{"backbone": "small"}, {"weights": "random"}])
    def test_an_untrained_backbone_is_trained_whole(self, settings):
        config = Config(**settings).resolved(images=True, side=32)
        assert not config.freeze and not config.warm_start and not config.fixed_norm

    @pytest.mark.parametrize("backbone", ["alexnet", "vgg16"])
    def test_nets_with_layers_of_their_own_need_no_hidden_one(self, backbone):
        assert Config(backbone=backbone).resolved(images=True, side=32).hidden == 0

    @pytest.mark.parametrize(
        ("backbone", "size"), [("small", 8), ("efficientnet-lite0", 8), ("alexnet", 63), ("vgg16", 32)]
    )
    def test_pictures_need_pixels(self, backbone, size):
        assert Config(backbone=backbone, image_size=size).resolved(images=True, side=32).image_size == size
        with pytest.raises(UserError, match=f"image_size must be at least {size} for {backbone}"):
            Config(backbone=backbone, image_size=size - 1).resolved(images=True, side=32)


def test_coding_otherwise_than_training_needs_a_fine_tuned_network():
    for settings in ({"mirror": True}, {"code_size": 128}):
        assert not Config(freeze=False, **settings).resolved(images=True, side=32).freeze
        for images in (True, False):
            with pytest.raises(UserError, match="code_size and mirror are for fine-tuned networks"):
                Config(**settings).resolved(images=images, side=32)
    with pytest.raises(UserError, match="code_size must be at least 63 for alexnet, got 40"):
        Config(freeze=False, backbone="alexnet", code_size=40).resolved(images=True, side=64)


def test_ksh_learns_slower_at_fewer_bits():
    rates = [Config(loss="ksh", bits=bits).resolved(images=False).learning_rate for bits in (8, 12, 48, 256)]
    assert rates == sorted(rates) and rates[1] < 0.05 and rates[2] == rates[3] == 0.1
    assert Config(loss="ksh", bits=12, learning_rate=0.2).resolved(images=False).learning_rate == 0.2


def test_thousands_of_labelled_items_take_more_steps():
    """Twice as many where unlabelled ones take part."""
    numbers = (0, 500, 2_500, 50_000)
    steps, supervised = (
        [Config(omega=omega).resolved(images=False, count=60_000, labelled=n).steps for n in numbers]
        for omega in (None, 0.0)
    )
    assert steps == [1000, 1000, 26 * 2_500 // 32, 4000]
    assert supervised == [1000, 1000, 13 * 2_500 // 32, 4000]
    assert Config().resolved(images=False, count=100, labelled=100).steps == 300
    assert Config(steps=7).resolved(images=False, labelled=5_000).steps == 7
