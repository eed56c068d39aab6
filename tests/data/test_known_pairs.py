"""What is known of which pair, compared with a dictionary and with the whole n x n matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pts3h import UserError
from pts3h.data.held_out import HeldOutLabels, HeldOutPairs
from pts3h.data.known_pairs import LabelPairs, PairList, check_labels


@st.composite
def pair_lists(draw):
    """A number of items, and pairs among them of both kinds, some given twice, in either order."""
    count = draw(st.integers(3, 12))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] < p[1])
    known = draw(st.dictionaries(ends, st.integers(0, 1), min_size=2))
    first, second = list(known)[:2]
    known |= {first: 1, second: 0}
    rows = [(*(pair if draw(st.booleans()) else pair[::-1]), s) for pair, s in known.items()]
    rows += [rows[place] for place in draw(st.lists(st.integers(0, len(rows) - 1), max_size=3))]
    return count, known, draw(st.permutations(rows))


single_labels = st.lists(st.integers(-1, 3), min_size=4, max_size=15)
flag_rows = st.integers(1, 4).flatmap(
    lambda classes: st.lists(
        st.one_of(st.just([-1] * classes), st.lists(st.integers(0, 1), min_size=classes, max_size=classes)),
        min_size=4,
        max_size=15,
    )
)


def all_pairs(labels):
    """Known and similar for every pair, one by one."""
    n = len(labels)
    known, similar = np.zeros((n, n), bool), np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            a, b = np.atleast_1d(labels[i]), np.atleast_1d(labels[j])
            known[i, j] = i != j and -1 not in a and -1 not in b
            alike = a == b if labels.ndim == 1 else (a == 1) & (b == 1)
            similar[i, j] = known[i, j] and alike.any()
    return known, similar


class TestPairList:
    @given(pair_lists(), st.data())
    def test_a_block_is_what_a_dictionary_says(self, case, data):
        count, known, rows = case
        pairs = PairList(count, rows)
        positions = np.array(data.draw(st.permutations(range(count))))[: data.draw(st.integers(1, count))]
        is_known, similar = pairs.block(positions)
        for i, a in enumerate(positions):
            for j, b in enumerate(positions):
                said = known.get((min(a, b), max(a, b))) if a != b else None
                assert is_known[i, j] == (said is not None)
                assert similar[i, j] == (said == 1)
        assert pairs.similar_share == pytest.approx(np.mean(list(known.values())))
        assert pairs.labelled.tolist() == sorted({end for pair in known for end in pair})

    def test_hidden_items_are_in_no_pair(self):
        pairs = PairList(6, [[0, 1, 1], [1, 2, 0], [3, 4, 1], [4, 5, 0], [0, 5, 0]])
        hidden = pairs.hide(np.array([1]))
        assert hidden.pairs.tolist() == [[0, 5], [3, 4], [4, 5]] and hidden.labelled.tolist() == [0, 3, 4, 5]
        assert len(pairs.pairs) == 5

    def test_pairs_of_one_kind_and_none_at_all(self):
        one_kind = PairList(4, [[0, 1, 1], [2, 3, 0]]).hide(np.array([0]))
        assert one_kind.pairs.tolist() == [[2, 3]] and one_kind.similar_share == 0 and not one_kind.both_kinds
        none = one_kind.hide(np.array([2]))
        assert (none.units, none.labelled.tolist(), none.similar_share) == (0, [], 0)
        assert not np.any(none.block(np.array([0, 1, 3])))
        for known in (one_kind, none):
            with pytest.raises(UserError, match="needs some that are alike and some that are not"):
                known.hold_out(0.5, np.random.default_rng(0))

    def test_many_items_need_no_matrix(self):
        count = 3_000_000
        pairs = PairList(count, [[0, count - 1, 1], [count - 2, count - 1, 0]])
        known, similar = pairs.block(np.array([count - 1, 0, count - 2]))
        assert known.tolist() == [[False, True, True], [True, False, False], [True, False, False]]
        assert similar.sum() == 2 and similar[0, 1] and similar[1, 0]

    @pytest.mark.parametrize(
        ("pairs", "match"),
        [
            ([[0, 1, 1], [2, 2, 0]], "pair 1 pairs an item with itself"),
            ([[0, 1, 1], [1, 9, 0]], "pair 1 names an item outside 0 to 4"),
            ([[0, 1, 1], [-1, 2, 0]], "pair 1 names an item outside"),
            ([[0, 1, 1], [1, 2, 2]], "pair 1 has a similarity that is neither 1 nor 0"),
            ([[0, 1, 1], [1, 2, 0], [1, 0, 0]], "pair 2 contradicts pair 0"),
            ([[0, 1]], r"shape \(1, 2\)"),
            ([[0, 1, 0.5], [1, 2, 1]], "whole numbers"),
            ([[0, 1, np.nan], [1, 2, 1]], "whole numbers"),
            ([["a", "b", "1"]], "position, position"),
            ([[0, 1, 1], [1, 2]], "position, position"),
        ],
    )
    def test_refused(self, pairs, match):
        with pytest.raises(UserError, match=match):
            PairList(5, pairs)


class TestLabelPairs:
    @given(st.one_of(single_labels, flag_rows))
    @settings(max_examples=200)
    def test_a_block_and_the_share_are_those_of_the_whole_matrix(self, rows):
        labels = np.array(rows)
        known, similar = all_pairs(labels)
        labelled = np.flatnonzero(known.any(axis=1))
        if not known.any() or similar.sum() in (0, known.sum()):
            with pytest.raises(UserError):
                LabelPairs(labels)
            return
        pairs = LabelPairs(labels)
        assert pairs.labelled.tolist() == labelled.tolist()
        assert pairs.similar_share == pytest.approx(similar.sum() / known.sum())
        positions = np.random.default_rng(len(rows)).permutation(len(rows))
        got_known, got_similar = pairs.block(positions)
        np.testing.assert_array_equal(got_known, known[np.ix_(positions, positions)])
        np.testing.assert_array_equal(got_similar, similar[np.ix_(positions, positions)])

    def test_the_share_of_many_flags_is_summed_in_strips(self):
        flags = np.random.default_rng(0).integers(0, 2, (2500, 3))
        shared = flags @ flags.T > 0
        np.fill_diagonal(shared, False)
        assert LabelPairs(flags).similar_share == pytest.approx(shared.sum() / (2500 * 2499))

    @pytest.mark.parametrize("labels", [np.array([0, 1, 0, 1, -1]), np.eye(2, dtype=int)[[0, 1, 0, 1, 1]]])
    def test_hidden_items_have_no_label(self, labels):
        pairs = LabelPairs(labels)
        hidden = pairs.hide(np.array([3]))
        assert 3 in pairs.labelled and 3 not in hidden.labelled
        assert not hidden.block(np.arange(5))[0][3].any()

    @pytest.mark.parametrize(
        ("labels", "match"),
        [
            ([-1, -1, 3], "fewer than two"),
            ([1, 1, -1], "all labelled items are similar"),
            ([1, 2, 3], "all labelled items are dissimilar"),
            ([0.0, 1.0], "whole numbers"),
            (["cat", "dog"], "whole numbers"),
            ([-2, 1, 1], "-1 where unknown"),
            ([[0, 2], [1, 0]], "0/1 in rows"),
            ([[0, -1], [1, 0]], "either all 0/1 or all -1"),
        ],
    )
    def test_refused(self, labels, match):
        with pytest.raises(UserError, match=match):
            LabelPairs(labels)


def test_flags_may_be_booleans():
    assert check_labels(np.array([[True, False], [False, True]])).tolist() == [[1, 0], [0, 1]]


def draw_pairs(seed, count=40, many=150):
    """Random pairs of both kinds, by class."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.choice(count, 2, replace=False) for _ in range(many)])
    return PairList(count, np.column_stack([ends, ends[:, 0] % 3 == ends[:, 1] % 3]))


def as_dictionary(pairs):
    return dict(zip(map(tuple, pairs.pairs.tolist()), pairs.similar.tolist(), strict=True))


LABELS = np.where(np.arange(40) % 4 != 1, np.arange(40) % 3, -1)
FLAGS = np.where(LABELS[:, None] < 0, -1, np.eye(3, dtype=int)[LABELS])


class TestUnits:
    @pytest.mark.parametrize("labels", [LABELS, FLAGS], ids=["numbers", "flags"])
    def test_of_labels_are_the_labelled_items(self, labels):
        known = LabelPairs(labels)
        labelled = [position for position in range(40) if position % 4 != 1]
        assert (known.units, known.items_per_unit) == (30, 1)
        assert known.items_of(np.arange(30)).tolist() == labelled
        assert known.items_of(np.array([29, 0])).tolist() == [labelled[29], labelled[0]]

    def test_of_pairs_are_the_pairs(self):
        known = draw_pairs(0)
        given = {tuple(sorted(pair)) for pair in known.pairs.tolist()}
        assert (known.units, known.items_per_unit) == (len(given), 2)
        assert {tuple(known.items_of(np.array([unit])).tolist()) for unit in range(known.units)} == given

    def test_items_that_several_pairs_share_count_once(self):
        known = PairList(9, [[7, 2, 1], [2, 5, 0], [0, 1, 1]])  # in order: 0-1, 2-5, 2-7
        assert known.items_of(np.array([1, 2])).tolist() == [2, 5, 7]
        assert known.items_of(np.array([0, 1, 2])).tolist() == known.labelled.tolist()


class TestHoldOut:
    @pytest.mark.parametrize("labels", [LABELS, FLAGS], ids=["numbers", "flags"])
    def test_labels(self, labels):
        known = LabelPairs(labels)
        left, held = known.hold_out(0.2, np.random.default_rng(0))
        assert type(left) is LabelPairs and type(held) is HeldOutLabels
        assert len(held.queries) == 6 and sorted(held.queries) == held.queries.tolist()
        assert {*held.queries} | {*held.database} == {*known.labelled}
        assert not {*held.queries} & {*held.database}
        assert left.labelled.tolist() == held.database.tolist(), "training sees nothing of the queries"
        np.testing.assert_array_equal(held.query_labels, labels[held.queries])
        np.testing.assert_array_equal(held.database_labels, labels[held.database])
        np.testing.assert_array_equal(left.labels[held.database], labels[held.database])
        assert (left.labels[held.queries] == -1).all() and (known.labels == labels).all()

    @pytest.mark.parametrize("share", [0.1, 0.5])
    def test_pairs(self, share):
        known = draw_pairs(1)
        everything = as_dictionary(known)
        left, held = known.hold_out(share, np.random.default_rng(0))
        assert type(left) is PairList and type(held) is HeldOutPairs
        parts = [as_dictionary(part) for part in (left, held)]
        assert not parts[0].keys() & parts[1].keys() and parts[0] | parts[1] == everything
        for kind in (True, False):
            wanted = round(share * list(everything.values()).count(kind))
            assert list(parts[1].values()).count(kind) == wanted

    def test_at_least_one_of_each_kind(self):
        left, held = PairList(9, [[0, 1, 1], [2, 3, 1], [4, 5, 0], [6, 7, 0]]).hold_out(
            0.01, np.random.default_rng(0)
        )
        assert sorted(held.similar.tolist()) == sorted(left.similar.tolist()) == [False, True]
        _, labels = LabelPairs(LABELS).hold_out(0.001, np.random.default_rng(0))
        assert len(labels.queries) == 1

    @pytest.mark.parametrize("known", [LabelPairs(LABELS), draw_pairs(2)], ids=["labels", "pairs"])
    def test_the_generator_decides(self, known):
        first, again, other = (known.hold_out(0.2, np.random.default_rng(seed))[0] for seed in (0, 0, 1))
        assert first.block(np.arange(40))[0].tolist() == again.block(np.arange(40))[0].tolist()
        assert first.block(np.arange(40))[0].tolist() != other.block(np.arange(40))[0].tolist()


class TestSummary:
    def test_of_labels(self):
        # classes of 3 and 2: 3 + 1 of 10 pairs are alike
        known = LabelPairs([0, 0, 0, 1, 1, -1])
        assert known.summary() == {"labelled_items": 5, "similar_share": 0.4}

    def test_of_pairs(self):
        known = PairList(9, [[0, 1, 1], [1, 2, 0], [5, 6, 0]])
        assert known.summary() == {"labelled_items": 5, "known_pairs": 3, "similar_share": 0.3333}
