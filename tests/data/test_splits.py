"""Who is a query, who is labelled, who is the database."""

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.splits import Split, draw_split, few_labels

SINGLE = np.random.default_rng(0).permutation(np.repeat(np.arange(4), 30))
MULTI = (np.random.default_rng(1).random((150, 4)) < 0.4).astype(int)
LABELS = pytest.mark.parametrize("labels", [SINGLE, MULTI], ids=["single", "multi"])


def members(labels, positions, label):
    return (labels[positions] == label).sum() if labels.ndim == 1 else labels[positions, label].sum()


@LABELS
def test_parts_are_disjoint_and_cover_everything(labels):
    split = draw_split(labels, queries=5, labelled=8, seed=3)
    assert not set(split.queries) & set(split.database)
    assert sorted([*split.queries, *split.database]) == list(range(len(labels)))
    assert set(split.labelled) <= set(split.database)
    for part in (split.queries, split.database, split.labelled):
        assert (np.diff(part) > 0).all()


@LABELS
def test_so_many_of_each_class(labels):
    split = draw_split(labels, queries=5, labelled=8, seed=3)
    assert len(split.queries) == 20 and len(split.labelled) == 32
    for label in range(4):
        if labels.ndim == 1:
            assert members(labels, split.queries, label) == 5 and members(labels, split.labelled, label) == 8
        else:  # an item drawn for one of its concepts may have others too
            assert members(labels, split.queries, label) >= 5 and members(labels, split.labelled, label) >= 8


@LABELS
def test_the_seed_decides(labels):
    first, again, other = (draw_split(labels, queries=5, labelled=8, seed=seed) for seed in (3, 3, 4))
    assert first.digest() == again.digest() != other.digest()
    np.testing.assert_array_equal(first.labelled, again.labelled)
    assert not np.array_equal(first.queries, other.queries)


def test_fixed_queries_are_taken_as_they_are():
    split = draw_split(SINGLE, queries=5, labelled=8, seed=0, fixed_queries=np.array([9, 2]))
    assert split.queries.tolist() == [2, 9] and len(split.database) == 118


def test_a_class_too_small_is_named():
    with pytest.raises(UserError, match="class 0 has only 25 items left, 26 labelled items were asked for"):
        draw_split(SINGLE, queries=5, labelled=26, seed=0)


@LABELS
def test_json_and_back(tmp_path, labels):
    split = draw_split(labels, queries=5, labelled=8, seed=3)
    split.save(tmp_path / "split.json")
    loaded = Split.load(tmp_path / "split.json")
    assert loaded.digest() == split.digest() and loaded.seed == 3
    for name in ("queries", "database", "labelled"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(split, name))


@pytest.mark.parametrize("text", [None, "", "[]", '{"queries": []}', '{"queries": "x"}'])
def test_a_file_that_is_no_split(tmp_path, text):
    if text is not None:
        (tmp_path / "split.json").write_text(text)
    with pytest.raises(UserError, match=r"split\.json is not a split"):
        Split.load(tmp_path / "split.json")


@LABELS
def test_hidden_labels_are_those_of_the_database(labels):
    split = draw_split(labels, queries=5, labelled=8, seed=3)
    hidden = split.hide_labels(labels)
    for position, row in zip(split.database, hidden, strict=True):
        expected = labels[position] if position in split.labelled else np.full_like(labels[position], -1)
        np.testing.assert_array_equal(row, expected)


class TestFewLabels:
    split = draw_split(SINGLE, queries=5, labelled=8, seed=3)

    def test_nested_and_balanced(self):
        before = set()
        for count in (1, 4, 6, 17, 40, 100):
            few = few_labels(SINGLE, self.split, count)
            labelled = set(few.labelled)
            assert len(labelled) == count and before <= labelled <= set(self.split.database)
            sizes = np.bincount(SINGLE[few.labelled], minlength=4)
            assert sizes.max() - sizes.min() <= 1
            np.testing.assert_array_equal(few.queries, self.split.queries)
            before = labelled

    def test_multi_label_items_count_once(self):
        split = draw_split(MULTI, queries=5, labelled=8, seed=3)
        small, large = few_labels(MULTI, split, 10), few_labels(MULTI, split, 40)
        assert len(set(large.labelled)) == 40 and set(small.labelled) <= set(large.labelled)
        assert not set(large.labelled) & set(split.queries)
        assert MULTI[large.labelled].sum(axis=0).min() >= 10

    def test_more_than_there_are(self):
        with pytest.raises(UserError, match="only 100 items have a class, 101"):
            few_labels(SINGLE, self.split, 101)
