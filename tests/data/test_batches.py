"""Which items stand in which batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h import UserError
from pts3h.data.batches import Batches, Shuffled
from pts3h.data.known_pairs import LabelPairs, PairList

LABELS = np.where(np.arange(60) < 20, np.arange(60) % 4, -1)
POOL = np.arange(20, 60)


def label_batches(**changes):
    return Batches(LabelPairs(LABELS), POOL, **({"labelled": 8, "unlabelled": 10, "seed": 0} | changes))


def pair_batches(count=1000, **changes):
    """Sixty known pairs among a thousand items: a random batch would hold none of them."""
    rng = np.random.default_rng(0)
    ends = rng.permutation(count)[:120].reshape(60, 2)
    known = PairList(count, np.column_stack([ends, np.arange(60) % 2]))
    pool = np.setdiff1d(np.arange(count), known.labelled)
    return Batches(known, pool, **({"labelled": 16, "unlabelled": 40, "seed": 0} | changes))


@pytest.mark.parametrize("batches", [label_batches(), pair_batches()], ids=["labels", "pairs"])
def test_an_item_stands_once_in_a_batch_with_the_labelled_first(batches):
    for step in range(50):
        batch = batches.at(step)
        labelled = len(batch.known)
        assert len(set(batch.positions)) == len(batch.positions)
        assert set(batch.positions[:labelled]) <= set(batches.known.labelled)
        assert set(batch.positions[labelled:]) <= set(batches.pool)
        known, similar = batches.known.block(batch.positions[:labelled])
        np.testing.assert_array_equal(batch.known, known)
        np.testing.assert_array_equal(batch.similar, similar)


@pytest.mark.parametrize("make", [label_batches, pair_batches], ids=["labels", "pairs"])
def test_a_batch_depends_on_seed_and_step_alone(make):
    forwards, backwards, other = make(), make(), make(seed=1)
    expected = [forwards.at(step).positions for step in range(20)]
    for step in reversed(range(20)):
        np.testing.assert_array_equal(backwards.at(step).positions, expected[step])
    assert any(set(other.at(step).positions) != set(expected[step]) for step in range(20))


def test_each_unlabelled_item_stands_once_in_an_epoch():
    batches = label_batches()
    assert batches.steps_per_epoch == 4
    epochs = [
        np.concatenate([batches.at(step).positions[8:] for step in range(4 * epoch, 4 * epoch + 4)])
        for epoch in range(3)
    ]
    for epoch in epochs:
        assert sorted(epoch) == POOL.tolist()
    assert not np.array_equal(epochs[0], epochs[1])


def test_batches_of_sparse_pairs_hold_all_of_them_in_turn():
    batches = pair_batches(labelled=12)
    seen = set()
    for step in range(10):  # sixty pairs, six a step
        batch = batches.at(step)
        assert np.triu(batch.known).sum() == 6
        for i, j in np.argwhere(np.triu(batch.known)):
            seen.add(tuple(sorted(batch.positions[[i, j]].tolist())))
    assert seen == {tuple(pair) for pair in batches.known.pairs.tolist()}


def test_supervised_training_has_no_unlabelled_items():
    batches = label_batches(unlabelled=0)
    assert len(batches.at(0).positions) == 8 and batches.steps_per_epoch == 2


@pytest.mark.parametrize("make", [label_batches, pair_batches], ids=["labels", "pairs"])
def test_before_the_unlabelled_items_join(make):
    """The same labelled items stand alone."""
    alone, together = make().at(3, joined=False), make().at(3)
    assert len(alone.positions) == len(alone.known) < len(together.positions)
    assert (alone.positions == together.positions[: len(alone.positions)]).all()
    assert (alone.similar == together.similar).all()


def test_fewer_items_than_a_batch_holds():
    batches = label_batches(labelled=64, unlabelled=500)
    assert sorted(batches.at(5).positions) == list(range(60)) and batches.steps_per_epoch == 1


def test_no_unlabelled_items_at_all():
    batches = Batches(LabelPairs(LABELS), np.empty(0, np.int64), labelled=8, unlabelled=10, seed=0)
    assert len(batches.at(3).positions) == 8


def test_one_labelled_item_makes_no_pair():
    with pytest.raises(UserError, match="at least two labelled items"):
        label_batches(labelled=1)


@given(count=st.integers(0, 40), group=st.integers(0, 15), seed=st.integers(0, 5))
def test_rounds_are_permutations_cut_into_groups(count, group, seed):
    stream = Shuffled(count, group, (seed,))
    if not count or not group:
        assert len(stream.at(7)) == 0
        return
    size = min(group, count)
    for turn in range(3):
        groups = [stream.at(turn * stream.groups + place) for place in range(stream.groups)]
        joined = np.concatenate(groups)
        assert all(len(part) == size for part in groups)
        assert len(set(joined)) == len(joined) > count - size
        assert set(joined) <= set(range(count))


def rare_batches(labels, **changes):
    return Batches(LabelPairs(labels), np.empty(0, np.int64), **({"labelled": 32, "unlabelled": 0} | changes))


@pytest.mark.parametrize("flags", [False, True], ids=["classes", "flags"])
def test_items_of_many_classes_meet_some_of_their_own(flags):
    """By chance an item of a hundred classes meets a third of an alike one in a batch of 32."""
    labels = np.repeat(np.arange(100), 10)
    batches = rare_batches(np.eye(100, dtype=int)[labels] if flags else labels, seed=0)
    assert batches.steps_per_epoch == 1000 // 32
    seen: set[int] = set()
    for step in range(125):  # a round: eight items bring three each
        batch = batches.at(step)
        assert 26 <= len(batch.positions) <= 32 and len(set(batch.positions)) == len(batch.positions)
        assert (batch.similar.sum(axis=1) >= 3).all()
        np.testing.assert_array_equal(
            batch.similar, (labels[batch.positions][:, None] == labels[batch.positions]) & batch.known
        )
        seen |= set(batch.positions.tolist())
    assert seen == set(range(1000))
    np.testing.assert_array_equal(
        rare_batches(labels, seed=0).at(77).positions, rare_batches(labels, seed=0).at(77).positions
    )


def test_an_item_alone_in_its_class_brings_nobody():
    batches = rare_batches(np.concatenate([np.arange(98), [98, 98]]), labelled=8, seed=0)
    sizes = {len(batches.at(step).positions) for step in range(50)}
    assert sizes == {2, 3} and all(len(batches.at(step).known) in sizes for step in range(50))


def test_few_classes_are_drawn_by_chance():
    labels = np.repeat(np.arange(10), 50)
    batches = rare_batches(labels, seed=0)
    assert {len(batches.at(step).positions) for step in range(20)} == {32}


def test_a_small_batch_is_drawn_by_chance():
    assert len(rare_batches(np.repeat(np.arange(100), 10), labelled=7, seed=0).at(0).positions) == 7
