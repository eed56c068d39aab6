"""What is known of which pair, compared with a dictionary and with the whole n x n matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pts3h import UserError
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs, PairList, check_labels, read_labels, read_pairs
from tests.pictures import write_pictures

EASY = [[0, 1, 1], [1, 2, 0]]


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

    def test_hiding_all_of_a_kind_is_refused(self):
        with pytest.raises(UserError, match="all 1 pairs are dissimilar"):
            PairList(4, [[0, 1, 1], [2, 3, 0]]).hide(np.array([0]))

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
            ([[0, 1, 1], [1, 2, 1]], "all 2 pairs are similar: .* not alike"),
            ([[0, 1, 0], [1, 2, 0]], "all 2 pairs are dissimilar"),
            ([[0, 1]], r"shape \(1, 2\)"),
            (np.empty((0, 3)), "at least one"),
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


@pytest.fixture
def photos(tmp_path):
    """Four pictures in two folders."""
    write_pictures(tmp_path / "photos" / "a", 2)
    write_pictures(tmp_path / "photos" / "b", 2)
    return read_items(tmp_path / "photos")


class TestReadPairs:
    def read(self, tmp_path, text, items):
        (tmp_path / "pairs.csv").write_text(text)
        return read_pairs(tmp_path / "pairs.csv", items)

    @pytest.mark.parametrize("header", ["", "a,b,similar\n", "\ufefffirst, second, Similar\n"])
    def test_by_id_with_and_without_a_header(self, tmp_path, photos, header):
        pairs = self.read(tmp_path, header + "a/00.png,a/01.png,1\nb/00.png , a/01.png,0\n", photos)
        assert pairs.pairs.tolist() == [[0, 1], [1, 2]] and pairs.similar.tolist() == [True, False]

    def test_by_path_from_here_or_from_the_file(self, tmp_path, photos, monkeypatch):
        monkeypatch.chdir(tmp_path / "photos")
        text = f"{tmp_path}/photos/a/00.png,photos/b/01.png,yes\n./a/01.png,photos/../photos/b/00.png,no\n"
        pairs = self.read(tmp_path, text, photos)
        assert pairs.pairs.tolist() == [[0, 3], [1, 2]] and pairs.similar.tolist() == [True, False]

    def test_by_position_in_an_array(self, tmp_path):
        pairs = self.read(tmp_path, "3,1,1\n0,2,0\n", read_items(np.ones((4, 2))))
        assert pairs.pairs.tolist() == [[0, 2], [1, 3]] and pairs.similar.tolist() == [False, True]

    def test_by_own_ids(self, tmp_path):
        (tmp_path / "items.csv").write_text("id,x\n10,1\n20,2\n0,3\n")
        pairs = self.read(tmp_path, "10,20,1\n0,10,0\n", read_items(tmp_path / "items.csv"))
        assert pairs.pairs.tolist() == [[0, 1], [0, 2]]

    def test_from_npy_array_and_pairs(self, tmp_path, photos):
        np.save(tmp_path / "pairs.npy", np.array(EASY))
        pairs = read_pairs(tmp_path / "pairs.npy", photos)
        assert pairs.pairs.tolist() == read_pairs(EASY, photos).pairs.tolist() == [[0, 1], [1, 2]]
        assert read_pairs(pairs, photos) is pairs

    @pytest.mark.parametrize(
        ("bad", "match"),
        [
            ("a/00.png,a/00.png,1", "row 3 pairs an item with itself"),
            ("a/01.png,a/00.png,0", r"row 3 contradicts .*pairs\.csv row 1"),
            ("a/00.png,c/00.png,1", "row 3 names 'c/00.png', which is not among the 4 items"),
            ("a/00.png,\0,1", "row 3 names"),
            ("a/00.png,2,1", "row 3 names '2'"),
            ("a/00.png,b/00.png,maybe", r"row 3 has similarity 'maybe', expected 1 \(alike\) or 0"),
            ("a/00.png,b/00.png", "row 3 has 2 columns, expected a,b,similar"),
            ("a/00.png,b/00.png,1,x", "row 3 has 4 columns"),
        ],
    )
    def test_a_bad_row_is_named(self, tmp_path, photos, bad, match):
        with pytest.raises(UserError, match=match):
            self.read(tmp_path, f"a/00.png,a/01.png,1\na/00.png,b/01.png,0\n{bad}\n", photos)

    @pytest.mark.parametrize("text", ["", "\n\n", "a,b,similar\n"])
    def test_no_pairs(self, tmp_path, photos, text):
        with pytest.raises(UserError, match=r"pairs\.csv holds no pairs"):
            self.read(tmp_path, text, photos)

    def test_no_file(self, tmp_path, photos):
        with pytest.raises(UserError, match="there is no pairs file"):
            read_pairs(tmp_path / "pairs.csv", photos)


class TestReadLabels:
    def test_from_class_folders(self, photos):
        assert read_labels("folder", photos).tolist() == [0, 0, 1, 1]

    def test_pictures_outside_class_folders_are_unknown(self, tmp_path, photos):
        write_pictures(tmp_path / "photos", 1)
        assert read_labels("folder", read_items(tmp_path / "photos")).tolist() == [-1, 0, 0, 1, 1]

    def test_one_folder_says_nothing(self, tmp_path, photos):
        with pytest.raises(UserError, match="two or more class folders"):
            read_labels("folder", read_items(tmp_path / "photos" / "a"))

    @pytest.mark.parametrize("header", ["", "id,label\n"])
    def test_from_csv(self, tmp_path, photos, header):
        (tmp_path / "labels.csv").write_text(header + "b/01.png,dog\na/01.png,cat\nb/01.png,dog\n")
        assert read_labels(tmp_path / "labels.csv", photos).tolist() == [-1, 0, -1, 1]

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("a/00.png,cat\na/00.png,dog\n", "row 2 says 'dog', an earlier row 'cat'"),
            ("a/00.png,cat\nc/00.png,dog\n", "row 2 names 'c/00.png'"),
            ("a/00.png,cat,1\n", "row 1 has 3 columns, expected id,label"),
        ],
    )
    def test_a_bad_row_is_named(self, tmp_path, photos, text, match):
        (tmp_path / "labels.csv").write_text(text)
        with pytest.raises(UserError, match=match):
            read_labels(tmp_path / "labels.csv", photos)

    def test_from_npy_and_array(self, tmp_path, photos):
        np.save(tmp_path / "labels.npy", np.array([0, -1, 1, 1], np.int8))
        assert read_labels(tmp_path / "labels.npy", photos).tolist() == [0, -1, 1, 1]
        assert read_labels([0, -1, 1, 1], photos).dtype == np.int64

    def test_refused(self, tmp_path, photos):
        with pytest.raises(UserError, match="3 labels for 4 items"):
            read_labels([0, 1, 1], photos)
        with pytest.raises(UserError, match="there is no labels file"):
            read_labels(tmp_path / "labels.csv", photos)


def test_flags_may_be_booleans():
    assert check_labels(np.array([[True, False], [False, True]])).tolist() == [[1, 0], [0, 1]]
