"""Parts of a data set."""

import numpy as np
import pytest

from pts3h.data.datasets.dataset import Dataset
from pts3h.data.items import Items
from pts3h.data.splits import Protocol

LABELS = np.repeat([0, 1, 2], [50, 40, 30])


@pytest.fixture
def whole():
    """A vector that says its position, and a label, for each of 120 items."""
    vectors = np.arange(120.0)[:, None]
    return Dataset("numbers", Items(vectors, [str(n) for n in range(120)], LABELS), Protocol(3, 4))


def test_a_sample_has_equally_many_of_each_class(whole):
    part, again = whole.sample(60, seed=0), whole.sample(60, seed=0)
    assert np.bincount(part.labels).tolist() == [20] * 3
    assert list(part.items.ids) == list(again.items.ids) != list(whole.sample(60, seed=1).items.ids)
    for item, label, vector in zip(part.items.ids, part.labels, part.items.content, strict=True):
        assert LABELS[int(item)] == label and vector == int(item)


@pytest.mark.parametrize("count", [None, 120, 121])
def test_all_there_is(whole, count):
    assert whole.at_most(count) is whole


def test_at_most_is_the_sample_of_seed_0(whole):
    assert list(whole.at_most(30).items.ids) == list(whole.sample(30, seed=0).items.ids)


def test_labelled_items_remain_labelled_where_queries_are_drawn(whole):
    fixed = Dataset("numbers", whole.items, whole.protocol, labelled=np.arange(0, 120, 7))
    part = fixed.sample(60, seed=0)
    assert {part.items.ids[p] for p in part.labelled} == {*part.items.ids} & {
        str(n) for n in range(0, 120, 7)
    }
