"""What is used: every choice made, by loss, by data and by what was asked for."""

import json
from dataclasses import fields

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.batches import Batches
from pts3h.data.items import read_items
from pts3h.data.known_pairs import PairList
from pts3h.data.training_set import TrainingSet
from pts3h.losses.table import LOSSES
from pts3h.settings.asked import Settings
from pts3h.settings.defaults import CLIP_FOR_PAIRS
from pts3h.settings.resolve import resolve
from pts3h.settings.used import Used
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from tests.settings.situations import COLD, FROZEN, PICTURES, SMALL, VECTORS, WARM, training_set, used

SITUATIONS = {
    "vectors": (VECTORS, {}),
    "frozen": (PICTURES, FROZEN),
    "warm": (PICTURES, WARM),
    "cold": (PICTURES, COLD),
    "small": (PICTURES, SMALL),
}

# written down by hand: what training used before settings were resolved in one place
# (items, settings) -> the values that differ between kinds of training
EXPECTED = {
    "vectors": {
        "backbone": "none",
        "optimizer": "sgd",
        "learning_rate": 0.15,
        "steps": 300,
        "alpha": 1 - 50 / 300,
        "hidden": 512,
        "image_size": 0,
        "noise": 0.2,
        "drop": 0.1,
    },
    "frozen": {
        "backbone": "efficientnet-lite0",
        "weights": "pretrained",
        "freeze": True,
        "optimizer": "sgd",
        "learning_rate": 0.15,
        "steps": 300,
        "alpha": 1 - 50 / 300,
        "hidden": 512,
        "image_size": 96,
        "code_size": 96,
        "views": 3,
        "crop": 0.5,
        "flip": 0.5,
        "jitter": 0.2,
        "noise": 0.0,
        "drop": 0.0,
    },
    "warm": {
        "freeze": False,
        "warm_start": True,
        "fixed_norm": True,
        "optimizer": "adamw",
        "learning_rate": 1e-3,
        "backbone_rate": 0.1,
        "steps": 5,  # five epochs of 80 unlabelled items, 96 at a time
        "alpha": 1 - 50 / 51,
        "views": 3,
        "momentum": 0.9,
    },
    "cold": {
        "freeze": False,
        "warm_start": False,
        "fixed_norm": True,
        "optimizer": "adamw",
        "steps": 5,
        "views": 0,
        "momentum": 0.0,
        "ramp": 0.3,
        "neighbours": 0.0,
        "fade": 0.0,
        "classes": 0.0,
    },
    "small": {
        "backbone": "small",
        "weights": "random",
        "freeze": False,
        "warm_start": False,
        "fixed_norm": False,
        "optimizer": "adamw",
        "learning_rate": 1e-3,
        "steps": 5,
        "hidden": 512,
        "ramp": 0.3,
        "neighbours": 0.0,
        "fade": 0.0,
        "classes": 0.0,
    },
}
SHARED = {
    "bits": 64,
    "seed": 0,
    "omega": 0.6,
    "gamma": 0.5,
    "eta": 0.004,
    "consistency": True,
    "similar_share": 40 * 9 / (40 * 39),
    "pseudo": "auto",
    "divide": True,
    "labelled_per_batch": 32,
    "unlabelled_per_batch": 96,
    "weight_decay": 5e-4,
    "clip": 0.0,
    "warmup": 0.1,
    "lead": 0.0,
    "ramp": 0.1,
    "neighbours": 1.0,
    "fade": 0.7,
    "classes": 0.5,
    "dropout": 0.1,
    "mirror": False,
    "device": "auto",
}
BY_LOSS = {
    "dsh": (0.6, 0.5, 0.004, 0.15),
    "dpsh": (0.5, 1.0, 0.05, 0.02),
    "ksh": (0.6, 0.5, 0.004, 0.1),
    "dhn": (0.5, 1.0, 0.0, 0.02),
    "hashnet": (0.5, 0.5, 0.0, 0.1),
    "mihash": (0.5, 0.5, 0.0, 0.1),
}


@pytest.mark.parametrize("kind", SITUATIONS)
def test_defaults(kind):
    training, settings = SITUATIONS[kind]
    found = used(training, **settings).to_json()
    for name, value in {**SHARED, **EXPECTED[kind]}.items():
        assert found[name] == pytest.approx(value), name


@pytest.mark.parametrize(("loss", "values"), BY_LOSS.items())
def test_defaults_of_every_loss(loss, values):
    found = used(loss=loss)
    assert (found.omega, found.gamma, found.eta, found.learning_rate) == values
    assert list(BY_LOSS) == LOSSES.names()


@pytest.mark.parametrize("kind", SITUATIONS)
@pytest.mark.parametrize("loss", BY_LOSS)
@pytest.mark.parametrize("length", [{}, {"steps": 7}, {"epochs": 2.5}, {"omega": 0.0}])
def test_nothing_is_left_open(kind, loss, length):
    training, settings = SITUATIONS[kind]
    found = used(training, loss=loss, **settings, **length)
    assert None not in found.to_json().values()
    assert "auto" not in {found.backbone, found.weights, found.optimizer, found.loss}
    assert type(found.steps) is int and found.steps >= 1
    assert Used.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_every_setting_but_epochs_is_used():
    names = [field.name for field in fields(Settings)]
    names.remove("epochs")  # become steps
    assert [field.name for field in fields(Used)] == names


def test_a_stored_setting_too_many_or_too_few_is_refused():
    stored = used().to_json()
    with pytest.raises(TypeError, match="epochs"):
        Used.from_json(stored | {"epochs": 1})
    with pytest.raises(TypeError, match="omega"):
        Used.from_json({name: value for name, value in stored.items() if name != "omega"})


def test_what_the_user_says_stands():
    said = {"omega": 0.0, "eta": 0.5, "hidden": 0, "freeze": False, "learning_rate": 0.3, "alpha": 0.7}
    found = used(PICTURES, **said, epochs=2.0)
    assert {name: getattr(found, name) for name in said} == said


class TestSteps:
    @pytest.mark.parametrize(
        ("settings", "steps"),
        [
            ({"epochs": 3.0}, 3),  # 80 unlabelled items are one batch of at most 96
            ({"epochs": 3.0, "unlabelled_per_batch": 20}, 12),
            ({"epochs": 2.5, "unlabelled_per_batch": 20}, 10),
            ({"epochs": 2.0, "unlabelled_per_batch": 30}, 4),  # the incomplete third batch is dropped
            ({"epochs": 2.0, "omega": 0.0, "labelled_per_batch": 8}, 10),  # passes over the labelled ones
            ({"epochs": 0.0}, 1),
            ({"steps": 17}, 17),
        ],
    )
    def test_by_hand(self, settings, steps):
        assert used(**settings).steps == steps

    @pytest.mark.parametrize("epochs", [1.0, 2.5, 4.0])
    def test_an_epoch_shows_every_unlabelled_item_once(self, epochs):
        found = used(epochs=epochs, unlabelled_per_batch=20)
        batches = Batches(VECTORS.known, VECTORS.pool, labelled=32, unlabelled=20, seed=5)
        shown = sum(len(batches.at(step).positions) - 32 for step in range(found.steps))
        assert shown == epochs * len(VECTORS.pool)

    @pytest.mark.parametrize(
        ("steps", "alpha"), [(1, 1 / 51), (51, 1 / 51), (100, 0.5), (5000, 0.99), (10**5, 0.995)]
    )
    def test_alpha_follows_them(self, steps, alpha):
        assert used(steps=steps).alpha == pytest.approx(alpha)
        assert used(steps=steps, alpha=0.9).alpha == 0.9

    def test_alpha_follows_epochs(self):
        assert used(epochs=50.0, unlabelled_per_batch=20).alpha == 1 - 50 / 200

    def test_thousands_of_labelled_items_take_more(self):
        """Twice as many where unlabelled ones take part."""
        sets = [training_set(count=60_000, labelled=labelled) for labelled in (8, 500, 2_500, 50_000)]
        paper = [used(one, neighbours=0.0).steps for one in sets]
        assert paper == [1000, 1000, 26 * 2_500 // 32, 4000]
        assert [used(one, omega=0.0).steps for one in sets] == [1000, 1000, 13 * 2_500 // 32, 4000]
        assert used(sets[3], steps=7).steps == 7

    @pytest.mark.parametrize(
        ("count", "steps"),
        [(32_000, 1000), (48_000, 3 * 47_960 // 96), (60_000, 3 * 59_960 // 96), (99_000, 2000)],
    )
    def test_tens_of_thousands_of_items_take_more_where_neighbours_teach(self, count, steps):
        many = training_set(count=count)
        assert used(many).steps == steps
        assert used(many, neighbours=0.0).steps == used(many, omega=0.0).steps == 1000

    @pytest.mark.parametrize(("count", "steps"), [(100, 300), (600, 468), (1280, 1000), (5000, 1000)])
    def test_few_items_take_fewer(self, count, steps):
        assert used(training_set(count=count)).steps == steps


class TestPictures:
    @pytest.mark.parametrize(("side", "size"), [(8, 96), (32, 96), (50, 128), (64, 192), (400, 224)])
    def test_size(self, side, size):
        found = used(training_set(pictures=True, side=side))
        assert (found.image_size, found.code_size) == (size, size)

    def test_the_head_before_fine_tuning(self):
        head = used(PICTURES, **WARM, lead=0.5, loss="ksh", bits=12).for_frozen_head()
        assert (head.optimizer, head.steps, head.freeze, head.lead) == ("sgd", 1000, True, 0.0)
        assert head.learning_rate == pytest.approx(0.1 * (12 / 48) ** 0.75)
        assert head.alpha == 0.95

    def test_random_weights_are_trained_whole(self):
        found = used(PICTURES, weights="random")
        assert not found.freeze and not found.warm_start and not found.fixed_norm

    def test_weights_that_do_not_exist(self):
        with pytest.raises(UserError, match="small has no pretrained weights"):
            used(PICTURES, backbone="small", weights="pretrained")

    @pytest.mark.parametrize("backbone", ["alexnet", "vgg16"])
    def test_nets_with_layers_of_their_own_need_no_hidden_one(self, backbone):
        found = used(PICTURES, backbone=backbone)
        assert (found.hidden, found.dropout) == (0, 0.0)

    @pytest.mark.parametrize(
        ("backbone", "size"), [("small", 8), ("efficientnet-lite0", 8), ("alexnet", 63), ("vgg16", 32)]
    )
    def test_need_pixels(self, backbone, size):
        assert used(PICTURES, backbone=backbone, image_size=size).image_size == size
        with pytest.raises(UserError, match=f"image_size must be at least {size} for {backbone}"):
            used(PICTURES, backbone=backbone, image_size=size - 1)

    def test_need_pixels_when_encoded_too(self):
        with pytest.raises(UserError, match="code_size must be at least 63 for alexnet, got 40"):
            used(PICTURES, freeze=False, backbone="alexnet", code_size=40)


def test_ksh_learns_slower_at_fewer_bits():
    rates = [used(loss="ksh", bits=bits).learning_rate for bits in (8, 12, 48, 256)]
    assert rates == sorted(rates) and rates[1] < 0.05 and rates[2] == rates[3] == 0.1
    assert used(loss="ksh", bits=12, learning_rate=0.2).learning_rate == 0.2


@pytest.mark.parametrize("kind", SITUATIONS)
@pytest.mark.parametrize("name", ["pts3h-mihash", "mihash", "pts3h-dsh", "dsh"])
def test_a_system_of_the_benchmark_uses_what_the_same_hasher_does(kind, name):
    training, settings = SITUATIONS[kind]
    loss = name.removeprefix("pts3h-")
    alone = {"neighbours": 0.0} if name.startswith("pts3h-") else {"omega": 0.0}
    system = SYSTEMS.find(name).used(Task(training, 64, settings=settings))
    hasher = resolve(Settings(loss=loss, **alone, **settings), training)
    assert system == hasher
    if loss == "mihash":
        sizes = hasher.labelled_per_batch, hasher.unlabelled_per_batch
        assert sizes == ((128, 0) if "omega" in alone else (96, 96))


@pytest.mark.parametrize("changes", [{"omega": 0.0}, {"gamma": 0.0}, {"eta": 0.3}, {"omega": 0.9}])
def test_a_change_leaves_nothing_that_cannot_act(changes):
    """As a grid does: the card shows what was used."""
    assert used(loss="dsh", steps=9).but(changes) == used(loss="dsh", steps=9, **changes)


def test_gradients_are_bounded_for_lists_of_pairs():
    """A batch holds few of them. Labels are learned as ever."""
    items, some = read_items(np.eye(40, 8, dtype=np.float32)), np.arange(4, 40)
    listed = TrainingSet(items, PairList(40, [(0, 1, 1), (2, 3, 0)]), some)
    nothing = TrainingSet(items, PairList(40, np.empty((0, 3), int)), some)
    assert resolve(Settings(), listed).clip == CLIP_FOR_PAIRS > 0
    assert resolve(Settings(clip=0.0), listed).clip == resolve(Settings(), nothing).clip == used().clip == 0


def test_classes_need_labels():
    """They are learned by default where labels are known, and refused where only pairs are."""
    known = PairList(40, [(0, 1, 1), (2, 3, 0)])
    pairs = TrainingSet(read_items(np.eye(40, 8, dtype=np.float32)), known, np.arange(4, 40))
    assert resolve(Settings(), pairs).classes == 0
    with pytest.raises(UserError, match=r"classes=0\.5 would do nothing here: only pairs are known"):
        resolve(Settings(classes=0.5), pairs)
    assert used(classes=0.0).classes == used(neighbours=0.0).classes == 0
    assert used(neighbours=0.0, classes=0.2).classes == 0.2
