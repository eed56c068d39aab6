"""Data sets of a benchmark and their splits, in the field's formats."""

import numpy as np
import pytest

from pts3h.bench.sources import default_labels, load_data, split_of
from pts3h.errors import UserError
from tests.pictures import write_pictures


@pytest.fixture(autouse=True)
def fresh():
    load_data.cache_clear()
    yield
    load_data.cache_clear()


@pytest.fixture
def lists(tmp_path):
    """NUS-WIDE's format, small: 40 pictures with two of three flags, fixed lists."""
    write_pictures(tmp_path / "images", 40)
    names = sorted(path.name for path in (tmp_path / "images").iterdir())
    flags = ("1 1 0", "0 1 0", "0 0 1")
    lines = [f"images/{name} {flags[number % 3]}" for number, name in enumerate(names)]
    for part, chosen in (("test", lines[:8]), ("database", lines[8:]), ("train", lines[8:20])):
        (tmp_path / f"{part}.txt").write_text("\n".join(chosen) + "\n")
    return tmp_path


@pytest.fixture
def arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(90, 5)).astype(np.float32))
    np.save(tmp_path / "y.npy", np.arange(90) % 3)
    return str(tmp_path / "x.npy"), str(tmp_path / "y.npy")


class TestLists:
    def test_the_lists_are_the_split(self, lists):
        data = load_data("nuswide21", str(lists), None, None)
        assert default_labels(data) == 12 and data.protocol.map_at == 5000
        split = split_of(data, 12, seed=3)
        assert [data.items.ids[p] for p in split.queries] == [f"images/{n:02}.png" for n in range(8)]
        assert len(split.labelled) == 12 and len(split.database) == 32

    def test_fewer_labels_are_some_of_the_lists(self, lists):
        data = load_data("nuswide21", str(lists), None, None)
        whole, few = split_of(data, 12, seed=0), split_of(data, 6, seed=0)
        assert len(few.labelled) == 6 and {*few.labelled} < {*whole.labelled}
        np.testing.assert_array_equal(few.database, whole.database)

    def test_a_part(self, lists):
        data = load_data("imagenet100", str(lists), None, 30)
        assert len(data.items) == 30 and 0 < len(data.queries) < 9

    def test_no_folder(self):
        with pytest.raises(UserError, match="say which folder"):
            load_data("nuswide21", None, None, None)


class TestArrays:
    def test_own_vectors(self, arrays):
        data = load_data(arrays[0], None, arrays[1], None)
        split = split_of(data, 15, seed=0)
        assert (len(split.queries), len(split.database), len(split.labelled)) == (9, 81, 15)
        assert not {*split.queries} & {*split.database} and {*split.labelled} <= {*split.database}
        assert np.bincount(data.labels[split.labelled]).tolist() == [5, 5, 5]

    def test_few_labels_are_part_of_more(self, arrays):
        data = load_data(arrays[0], None, arrays[1], None)
        assert {*split_of(data, 9, 1).labelled} < {*split_of(data, 30, 1).labelled}
        assert split_of(data, 9, 1).digest() != split_of(data, 9, 2).digest()

    @pytest.mark.parametrize(
        ("x", "y", "message"),
        [
            ("none.npy", "y.npy", "there is no"),
            ("x.npy", None, "--labels labels.npy"),
            ("x.npy", "short.npy", "a label for each of the 90"),
            ("digits", "y.npy", "has its own labels"),
        ],
    )
    def test_mistakes(self, arrays, tmp_path, monkeypatch, x, y, message):
        monkeypatch.chdir(tmp_path)
        np.save("short.npy", np.arange(4) % 2)
        with pytest.raises(UserError, match=message):
            load_data(x, None, y, None)


def test_mosaics_are_split_by_flags(monkeypatch):
    from dataclasses import replace

    from pts3h.data.datasets import cifar10
    from pts3h.data.datasets.table import DATASETS
    from pts3h.data.splits import Protocol

    pixels = np.random.default_rng(0).integers(0, 256, (4000, 4, 4, 3), np.uint8)
    monkeypatch.setattr(cifar10, "raw_cifar10", lambda _: (pixels, np.arange(4000) % 10))
    few = replace(DATASETS.find("mosaic"), protocol=Protocol(queries=5, labelled=10, map_at=5000))
    monkeypatch.setitem(DATASETS._rows, "mosaic", few)
    data = load_data("mosaic", None, None, 800)
    assert data.labels.shape == (800, 10) and default_labels(data) == 100
    split = split_of(data, 100, seed=0)
    assert len(split.queries) == 50 and len(split.labelled) == 100
