"""Pairs and labels from files, arrays and class folders."""

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.pair_files import read_labels, read_pairs, read_supervision
from tests.pictures import write_pictures

EASY = [[0, 1, 1], [1, 2, 0]]


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


class TestReadSupervision:
    def test_pairs_or_labels_or_what_came_with_the_items(self, tmp_path, photos):
        assert isinstance(read_supervision(photos, EASY, None), PairList)
        known = read_supervision(photos, None, "folder")
        assert isinstance(known, LabelPairs) and known.labels.tolist() == [0, 0, 1, 1]
        lines = [f"{path} {int(number < 2)} {int(number >= 2)}" for number, path in enumerate(photos.paths)]
        (tmp_path / "list.txt").write_text("\n".join(lines) + "\n")
        listed = read_supervision(read_items(tmp_path / "list.txt"), None, None)
        assert listed.labels.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]

    def test_not_both(self, photos):
        with pytest.raises(UserError, match="give pairs or labels, not both"):
            read_supervision(photos, EASY, [0, 0, 1, 1])

    def test_neither_is_no_pair(self, photos):
        assert read_supervision(photos, None, None).units == 0
        with pytest.raises(UserError, match="there are no pairs: give at least one, or leave pairs out"):
            read_supervision(photos, np.empty((0, 3), int), None)
