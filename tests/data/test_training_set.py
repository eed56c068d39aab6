"""Who takes part, and who does once some items are left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h import UserError
from pts3h.data.inputs import VectorInputs
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.problem import Problem
from pts3h.data.training_set import TrainingSet, unlabelled_pool

COUNT = 12
ITEMS = from_array(np.ones((COUNT, 2)))
LABELS = LabelPairs([0, 0, 1, 1, 0, *[-1] * 7])
PAIRS = PairList(COUNT, [[0, 1, 1], [2, 3, 0], [3, 4, 1], [4, 5, 0]])


class TestPool:
    def test_by_default_all_others(self):
        assert unlabelled_pool(COUNT, LABELS).tolist() == [5, 6, 7, 8, 9, 10, 11]
        assert unlabelled_pool(COUNT, PAIRS).tolist() == [6, 7, 8, 9, 10, 11]

    def test_those_that_were_chosen_once_each_and_no_labelled_ones(self):
        assert unlabelled_pool(COUNT, LABELS, [9, 7, 9, 0]).tolist() == [7, 9]
        assert unlabelled_pool(COUNT, LABELS, []).tolist() == []
        assert unlabelled_pool(COUNT, LABELS, np.array([7], np.uint8)).dtype == np.int64

    @pytest.mark.parametrize(
        ("chosen", "match"),
        [
            ([3, 12], "unlabelled names item 12, but there are 12 items"),
            ([-1, 3], "unlabelled names item -1"),
            ([0.5, 3.0], "whole numbers up to 11, got float64"),
            (["a"], "unlabelled must be positions"),
            ([True, False], "unlabelled must be positions"),
        ],
    )
    def test_refused(self, chosen, match):
        with pytest.raises(UserError, match=match):
            unlabelled_pool(COUNT, LABELS, chosen)


def test_members_are_labelled_and_pool():
    pool = np.array([10, 7])
    assert TrainingSet(ITEMS, PAIRS, pool).members.tolist() == [0, 1, 2, 3, 4, 5, 7, 10]
    problem = Problem(VectorInputs(np.ones((COUNT, 2))), PAIRS, pool)
    assert problem.members.tolist() == [0, 1, 2, 3, 4, 5, 7, 10]


class TestWithout:
    def test_nothing_left_out_is_the_same(self):
        training = TrainingSet(ITEMS, PAIRS, np.array([7, 8]))
        assert training.without(np.empty(0, np.int64)) is training

    def test_labels(self):
        left = TrainingSet(ITEMS, LABELS, np.array([7, 8, 9])).without(np.array([4, 8, 11]))
        assert left.known.labelled.tolist() == [0, 1, 2, 3] and left.pool.tolist() == [7, 9]
        assert left.items is ITEMS

    def test_who_loses_all_its_pairs_joins_the_pool(self):
        left = TrainingSet(ITEMS, PAIRS, np.array([7, 8])).without(np.array([3]))
        # of 2-3 and 3-4, 2 is in no other pair, 4 is
        assert left.known.pairs.tolist() == [[0, 1], [4, 5]]
        assert left.known.labelled.tolist() == [0, 1, 4, 5] and left.pool.tolist() == [2, 7, 8]

    @given(st.sets(st.integers(0, COUNT - 1)), st.sets(st.integers(6, COUNT - 1)))
    def test_everyone_else_still_takes_part(self, gone, pool):
        training = TrainingSet(ITEMS, PAIRS, np.array(sorted(pool), np.int64))
        kept = [pair for pair in PAIRS.pairs.tolist() if not gone & set(pair)]
        left = training.without(np.array(sorted(gone), np.int64))
        assert {*left.members} == {*training.members} - gone
        assert {*left.known.labelled} == {end for pair in kept for end in pair}
        assert not {*left.pool} & {*left.known.labelled}


def test_labels_of_a_problem():
    inputs = VectorInputs(np.ones((COUNT, 2)))
    assert Problem(inputs, LABELS, np.arange(5, 12)).labels("ssdh") is LABELS.labels
    with pytest.raises(UserError, match=r"^ssdh learns from labels, and only pairs are known here"):
        Problem(inputs, PAIRS, np.arange(6, 12)).labels("ssdh")
