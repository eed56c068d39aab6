"""The shallow systems as systems: from pairs alone, repeatable, better than chance."""

import numpy as np
import pytest

import pts3h
from pts3h.codes import pack
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.training_set import TrainingSet
from pts3h.systems.shallow.known import Known
from pts3h.systems.shallow.system import ShallowSystem
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS
from tests.pictures import pictures

KINDS = np.arange(300) % 3
SHALLOW = [system.name for system in SYSTEMS if isinstance(system, ShallowSystem)]
SUPERVISED = ("ksh-kernel", "fasth", "splh")


def vectors():
    """Three kinds whose centres lie close together, in directions of small variance."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 20)) * np.linspace(0.5, 3, 20)
    return (np.eye(3, 20)[KINDS] * 3 + noise).astype(np.float32)


def training(known=None, rows=None):
    """The first 240 items take part, 120 of them labelled."""
    known = LabelPairs(np.where(np.arange(300) < 120, KINDS, -1)) if known is None else known
    items = from_array(vectors() if rows is None else rows)
    return TrainingSet(items, known, np.setdiff1d(np.arange(240), known.labelled))


def quality(codes, bits):
    queries, database = codes[240:], codes[:240]
    return pts3h.evaluate(queries, database, labels=(KINDS[240:], KINDS[:240]), bits=bits).map


def codes_of(name, task, bits=12, seed=0):
    outputs, broken = SYSTEMS.find(name).fit(Task(task, bits, seed)).outputs(task.items)
    assert not broken
    return pack(outputs)


def test_all_of_them():
    assert SHALLOW == ["splh", "ksh-kernel", "fasth", "itq", "pca", "sh", "lsh"]


@pytest.mark.parametrize("name", SHALLOW)
class TestEach:
    def test_codes_repeat_and_have_their_length(self, name):
        codes = codes_of(name, training())
        assert codes.shape == (300, 2) and codes.dtype == np.uint8
        np.testing.assert_array_equal(codes, codes_of(name, training()))
        assert len(np.unique(codes, axis=0)) > 3

    def test_what_the_table_says(self, name):
        system = SYSTEMS.find(name)
        kinds = {"splh": "semi-supervised", "ksh-kernel": "supervised", "fasth": "supervised"}
        assert (system.name, system.needs_labels, system.base) == (name, False, None)
        assert system.kind == kinds.get(name, "unsupervised")

    def test_queries_take_no_part(self, name):
        """Whatever stands at positions outside of the training set changes no code."""
        other = vectors()
        other[240:] *= 100
        same, changed = (codes_of(name, training(rows=rows))[:240] for rows in (None, other))
        np.testing.assert_array_equal(same, changed)

    def test_new_items_are_encoded_as_the_same_items_were(self, name):
        """In parts, one by one, and all at once."""
        task = training()
        encoder = SYSTEMS.find(name).fit(Task(task, 12))
        whole, _ = encoder.outputs(from_array(np.tile(vectors(), (2, 1))))
        some, _ = encoder.outputs(from_array(vectors()[250:260]))
        np.testing.assert_allclose(whole[300:], whole[:300], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(some, whole[250:260], rtol=1e-4, atol=1e-4)

    def test_a_setting_of_networks_is_refused_or_set_aside(self, name):
        task, asked = training(), {"steps": 5}
        with pytest.raises(
            pts3h.UserError, match=f"steps=5 would do nothing here: {name} has no such setting"
        ):
            SYSTEMS.find(name).fit(Task(task, 12, settings=asked))
        SYSTEMS.find(name).used(Task(task, 12, settings=asked, shared=frozenset(asked)))


@pytest.mark.parametrize("name", SUPERVISED)
class TestSupervised:
    def test_beats_lsh_and_itq_where_classes_hide_in_small_directions(self, name):
        rivals = max(quality(codes_of(rival, training()), 12) for rival in ("lsh", "itq"))
        assert quality(codes_of(name, training()), 12) > rivals + 0.1

    def test_from_a_pair_list(self, name):
        rng = np.random.default_rng(1)
        ends = np.array([rng.choice(120, 2, replace=False) for _ in range(2000)])
        pairs = np.column_stack([ends, KINDS[ends[:, 0]] == KINDS[ends[:, 1]]])
        assert quality(codes_of(name, training(PairList(300, pairs))), 12) > 0.5

    def test_seed_zero_and_one_are_both_fine(self, name):
        assert min(quality(codes_of(name, training(), seed=seed), 12) for seed in (0, 1)) > 0.5


@pytest.mark.parametrize("name", ("itq", "fasth"))
def test_more_bits_than_directions(name):
    if name == "itq":
        with pytest.raises(pts3h.UserError, match=r"bits=24 needs .* have only 20: choose fewer"):
            codes_of(name, training(), bits=24)
    else:
        assert codes_of(name, training(), bits=24).shape == (300, 3)


def test_what_they_learn_from():
    task = training()
    known = Known(np.asarray(task.items.content), task)
    np.testing.assert_array_equal(known.features, vectors()[:240])
    np.testing.assert_array_equal(known.labelled, vectors()[:120])
    expected = np.where(KINDS[:120, None] == KINDS[None, :120], 1, -1)
    np.testing.assert_array_equal(known.signed(), expected)
    known.signed()[:] = 0  # may be used up
    np.testing.assert_array_equal(known.signed(), expected)


def test_pictures_by_their_frozen_features():
    pixels, kinds = pictures(60, side=16)
    known = LabelPairs(np.where(np.arange(60) < 20, kinds, -1))
    task = TrainingSet(from_array(pixels), known, np.arange(20, 60))
    settings = {"backbone": "small", "image_size": 16, "views": 0}
    outputs, broken = SYSTEMS.find("lsh").fit(Task(task, 24, settings=settings)).outputs(task.items)
    distances = (np.sign(outputs)[:, None] != np.sign(outputs)).sum(axis=2)
    alike = kinds[:, None] == kinds
    assert not broken and distances[alike].mean() < distances[~alike].mean()


def test_pictures_are_learned_from_and_encoded_at_the_size_of_encoding():
    pixels, kinds = pictures(60, side=16)
    training = TrainingSet(from_array(pixels), LabelPairs(kinds), np.arange(0))
    itq, shared = SYSTEMS.find("itq"), {"backbone": "small", "views": 0}
    apart, alike, plain = (
        Task(training, 8, settings=shared | sizes)
        for sizes in ({"image_size": 16, "code_size": 24}, {"image_size": 24}, {"image_size": 16})
    )
    ours, theirs, smaller = (itq.fit(task).outputs(training.items)[0] for task in (apart, alike, plain))
    np.testing.assert_array_equal(ours, theirs)
    assert (ours != smaller).any()
    assert itq.record(apart)["code_size"] == 24 and "code_size" not in itq.record(plain)


def test_a_row_that_needs_labels_says_so_before_it_learns():
    """The row alone decides: what it would learn by is never called."""

    def learn(known, bits, seed):
        pytest.fail("it learned")

    row = ShallowSystem(name="labels-only", label="L", kind="supervised", needs_labels=True, learn=learn)
    pairs = PairList(300, [[0, 1, 1], [1, 2, 0]])
    with pytest.raises(pts3h.UserError, match="labels-only learns from labels, and only pairs are known"):
        row.fit(Task(TrainingSet(from_array(vectors()), pairs, np.arange(3, 240)), bits=8))
