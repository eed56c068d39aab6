"""Whatever a user has, read as items."""

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.items import encode_classes, read_items
from tests.pictures import pictures, write_pictures


def refused(source, *, match, **options):
    with pytest.raises(UserError, match=match) as caught:
        read_items(source, **options)
    assert "\n" not in str(caught.value)


class TestFolder:
    def test_recursive_with_relative_ids(self, tmp_path):
        write_pictures(tmp_path / "cats", 2)
        write_pictures(tmp_path / "dogs" / "small", 1)
        (tmp_path / ".thumbnails").mkdir()
        write_pictures(tmp_path / ".thumbnails", 3)
        items = read_items(tmp_path)
        assert list(items.ids) == ["cats/00.png", "cats/01.png", "dogs/small/00.png"]
        assert len(items) == 3 and items.images is not None and items.labels is None

    def test_text_and_path_are_alike(self, tmp_path):
        write_pictures(tmp_path, 2)
        assert read_items(str(tmp_path)).ids == read_items(tmp_path).ids

    def test_refused(self, tmp_path):
        refused(tmp_path, match="no pictures below")
        refused(tmp_path / "nowhere", match="nowhere does not exist")
        (tmp_path / "a.parquet").touch()
        refused(tmp_path / "a.parquet", match=r"cannot read .*a\.parquet")


class TestPaths:
    def test_ids_are_the_paths_as_given(self, tmp_path, monkeypatch):
        write_pictures(tmp_path, 3)
        monkeypatch.chdir(tmp_path)
        assert list(read_items(["02.png", "00.png"]).ids) == ["02.png", "00.png"]

    def test_missing_files_are_counted_and_named(self, tmp_path):
        write_pictures(tmp_path, 1)
        wanted = [tmp_path / name for name in ("00.png", "07.png", "08.png")]
        refused(wanted, match=r"2 of 3 files do not exist, the first is .*07\.png")
        refused([], match="empty")

    def test_names_that_no_file_has(self, tmp_path):
        (tmp_path / "gone.png").symlink_to(tmp_path / "nothing.png")
        (tmp_path / "items.csv").write_text("path\na\0b.png\n")
        (tmp_path / "items.txt").write_text("a\0b.png\n")
        for source in ("a\0b", ["a\0b.png"], tmp_path / "gone.png", [tmp_path / "gone.png"]):
            refused(source, match="not exist")
        for name in ("items.csv", "items.txt"):
            refused(tmp_path / name, match="not exist")


class TestPictureArray:
    images, _ = pictures(4, side=8)
    floats = images / np.float32(255)

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (images, images),
            (images.transpose(0, 3, 1, 2), images),
            (floats, images),
            (floats.astype(np.float64).transpose(0, 3, 1, 2), images),
            (images[..., 0], images[..., [0, 0, 0]]),
            (images[..., :1], images[..., [0, 0, 0]]),
            (images[:, None, :, :, 1], images[..., [1, 1, 1]]),
            (images[..., 0] > 100, np.repeat((images[..., :1] > 100) * np.uint8(255), 3, axis=3)),
            (list(images), images),
        ],
        ids=["bytes", "colour first", "floats", "doubles", "grey", "one", "one first", "bool", "list"],
    )
    def test_layouts(self, given, expected):
        items = read_items(given)
        loaded = items.images.load(np.arange(len(items)), 8)
        np.testing.assert_array_equal(loaded.pixels, expected.transpose(0, 3, 1, 2))
        assert list(items.ids) == ["0", "1", "2", "3"]

    def test_from_a_file_on_disk(self, tmp_path):
        np.save(tmp_path / "images.npy", self.images)
        items = read_items(tmp_path / "images.npy")
        assert items.images.keys() == read_items(self.images).images.keys()

    @pytest.mark.parametrize(
        ("given", "match"),
        [
            (np.zeros((2, 8, 8, 3), np.int64), "uint8"),
            (np.full((2, 8, 8, 3), 255.0), r"\[0, 1\]"),
            (np.full((2, 8, 8, 3), np.nan), r"\[0, 1\]"),
            (np.zeros((2, 8, 8, 4), np.uint8), "1 or 3 colours"),
            (np.zeros((2, 0, 0, 3), np.uint8), "pixels"),
            (np.zeros((0, 8, 8, 3), np.uint8), "no items"),
            (np.zeros((2, 2, 8, 8, 3), np.uint8), "vectors or"),
        ],
    )
    def test_refused(self, given, match):
        refused(given, match=match)


class TestVectors:
    vectors = np.random.default_rng(0).normal(size=(6, 4))

    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
    def test_floats_are_kept_as_they_are(self, kind):
        items = read_items(self.vectors.astype(kind))
        assert items.images is None and items.content.dtype == kind
        np.testing.assert_array_equal(items.content, self.vectors.astype(kind))

    def test_whole_numbers_become_floats(self):
        items = read_items([[1, 2], [3, 4], [5, 6]])
        assert items.content.dtype == np.float32 and items.content.tolist() == [[1, 2], [3, 4], [5, 6]]

    def test_a_file_stays_on_disk(self, tmp_path):
        np.save(tmp_path / "vectors.npy", self.vectors)
        assert isinstance(read_items(tmp_path / "vectors.npy").content, np.memmap)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
    def test_the_first_bad_row_is_named(self, bad):
        vectors = np.ones((70_000, 2))
        vectors[[65_540, 66_000], [1, 0]] = bad
        refused(vectors, match="row 65540 of the vectors")

    @pytest.mark.parametrize(
        ("given", "match"),
        [
            (np.ones(5), r"\(n, d\) vectors"),
            (np.ones((0, 5)), "empty"),
            (np.ones((5, 0)), "no entries"),
            (np.ones((5, 2), complex), "complex"),
            (np.array([["a", "b"]]), "vectors"),
            ([[1, 2], [3]], "different shapes"),
        ],
    )
    def test_refused(self, given, match):
        refused(given, match=match)

    def test_files_that_are_no_arrays(self, tmp_path):
        (tmp_path / "text.npy").write_text("hello")
        refused(tmp_path / "text.npy", match=r"text\.npy is not a readable")
        np.save(tmp_path / "pickle.npy", np.array([{"code": "runs"}], object), allow_pickle=True)
        refused(tmp_path / "pickle.npy", match=r"pickle\.npy is not a readable")
        np.savez(tmp_path / "several.npz", self.vectors)
        (tmp_path / "several.npz").rename(tmp_path / "several.npy")
        refused(tmp_path / "several.npy", match=r"several\.npy is not a readable")
        (tmp_path / "several.npy").write_bytes((tmp_path / "several.npy").read_bytes()[:100])
        refused(tmp_path / "several.npy", match=r"several\.npy is not a readable")
        np.save(tmp_path / "cut.npy", self.vectors)
        (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:150])
        refused(tmp_path / "cut.npy", match=r"cut\.npy is not a readable")


class TestCsv:
    def read(self, tmp_path, text, **options):
        (tmp_path / "items.csv").write_text(text)
        return read_items(tmp_path / "items.csv", **options)

    def refused(self, tmp_path, text, match):
        (tmp_path / "items.csv").write_text(text)
        refused(tmp_path / "items.csv", match=match)

    def test_pictures_with_ids_and_labels(self, tmp_path):
        write_pictures(tmp_path / "photos", 3)
        text = "\ufeffid,Path,label\nx,photos/00.png,dog\n\ny,photos/01.png,\nz,photos/02.png,cat\n"
        items = self.read(tmp_path, text)
        assert list(items.ids) == ["x", "y", "z"]
        assert items.labels.tolist() == [1, -1, 0] and items.classes == ("cat", "dog")
        assert [path.name for path in items.images.paths] == ["00.png", "01.png", "02.png"]

    def test_paths_are_the_ids_where_there_are_none_and_start_at_the_root(self, tmp_path):
        write_pictures(tmp_path / "elsewhere", 2)
        items = self.read(tmp_path, "path\n00.png\n01.png\n", root=tmp_path / "elsewhere")
        assert list(items.ids) == ["00.png", "01.png"] and items.labels is None

    def test_numbers(self, tmp_path):
        items = self.read(tmp_path, "id,x,label,y\na,1,0,2.5\nb,-3,1,1e2\n")
        assert items.content.tolist() == [[1, 2.5], [-3, 100]]
        assert list(items.ids) == ["a", "b"] and items.labels.tolist() == [0, 1]

    def test_a_spreadsheet_with_numbered_columns_and_rows(self, tmp_path):
        items = self.read(tmp_path, ",0,1\n7,1,2\n8,3,4\n")
        assert list(items.ids) == ["7", "8"] and items.content.tolist() == [[1, 2], [3, 4]]

    def test_columns_of_one_name_are_different_columns(self, tmp_path):
        assert self.read(tmp_path, "x,x\n1,2\n3,4\n").content.tolist() == [[1, 2], [3, 4]]

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("", "no rows"),
            ("path,label\n", "no rows"),
            ("x,y\n1,2\n3\n", "row 3 has 1 columns, the header has 2"),
            ("x,y\n1,2\n3,four\n", "columns of numbers"),
            ("x,y\n1,2\n3,nan\n", "row 1 of the vectors holds NaN"),
            ("id,label\na,1\nb,2\n", "no entries"),
            ("id,x\na,1\na,2\n", "'a' more than once"),
            ("0.5,1.5\n1,2\n3,4\n", "needs a header"),
            ("path\nnowhere.png\n", r"1 of 1 files do not exist, the first is .*nowhere\.png"),
        ],
    )
    def test_refused(self, tmp_path, text, match):
        self.refused(tmp_path, text, match)

    def test_bytes_that_are_no_text(self, tmp_path):
        (tmp_path / "items.csv").write_bytes(b"path\n\xff\xfe\n")
        refused(tmp_path / "items.csv", match="cannot read .* as CSV")


class TestListFile:
    def test_flags(self, tmp_path):
        write_pictures(tmp_path / "images", 3)
        (tmp_path / "train.txt").write_text("images/02.png 0 1 1\nimages/00.png 1 0 0\n")
        items = read_items(tmp_path / "train.txt")
        assert list(items.ids) == ["images/02.png", "images/00.png"]
        assert items.labels.tolist() == [[0, 1, 1], [1, 0, 0]]

    def test_paths_alone(self, tmp_path):
        write_pictures(tmp_path, 2)
        (tmp_path / "all.lst").write_text("\n01.png\n\n00.png\n")
        items = read_items(tmp_path / "all.lst")
        assert list(items.ids) == ["01.png", "00.png"] and items.labels is None

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("", "empty"),
            ("00.png 0 1\n01.png 0\n", "line 2: expected a path .* and 2 flags"),
            ("00.png 0 1\n01.png 0 2\n", "line 2"),
            ("my picture.png\n", r"line 1: expected a path \(no spaces\)"),
            ("00.png 1\n05.png 0\n", r"the first is .*05\.png"),
        ],
    )
    def test_refused(self, tmp_path, text, match):
        write_pictures(tmp_path, 2)
        (tmp_path / "list.txt").write_text(text)
        refused(tmp_path / "list.txt", match=match)

    def test_bytes_that_are_no_text(self, tmp_path):
        (tmp_path / "list.txt").write_bytes(b"\xff\xfe\x00")
        refused(tmp_path / "list.txt", match="as a list file")


def test_a_subset_keeps_ids_and_labels(tmp_path):
    write_pictures(tmp_path, 3)
    (tmp_path / "list.txt").write_text("00.png 0 1\n01.png 1 0\n02.png 1 1\n")
    part = read_items(tmp_path / "list.txt").subset(np.array([2, 0]))
    assert list(part.ids) == ["02.png", "00.png"] and part.labels.tolist() == [[1, 1], [0, 1]]
    assert read_items(part) is part


def test_class_names_become_numbers_in_name_order():
    labels, classes = encode_classes(["dog", "", "cat", "dog", "-1"])
    assert labels.tolist() == [1, -1, 0, 1, -1] and classes == ("cat", "dog")
