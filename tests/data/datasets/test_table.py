"""The table of data sets: names, protocols, and how many items are loaded."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.datasets import cifar10
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.datasets.table import DATASETS, DataSetRow, load_dataset
from pts3h.data.items import Items
from pts3h.data.splits import Protocol

NAMES = ["cifar10", "fashion-mnist", "digits", "mosaic", "nuswide21", "imagenet100"]


@pytest.fixture(autouse=True)
def ours_alone(monkeypatch):
    """Rows that a test keeps are gone after it."""
    monkeypatch.setattr(DATASETS, "_rows", dict(DATASETS._rows))


def test_names_in_order():
    assert DATASETS.names() == NAMES
    assert all(row.help and "\n" not in row.help for row in DATASETS)


def test_listing_imports_neither_torch_nor_sklearn():
    code = (
        "import sys; from pts3h.data.datasets.table import DATASETS; DATASETS.names(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'sklearn')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_rows_can_be_sent_to_the_processes_of_a_benchmark(name):
    row = DATASETS.find(name)
    assert pickle.loads(pickle.dumps(row)) == row


def test_the_papers_protocols():
    protocols = {row.name: row.protocol for row in DATASETS}
    assert protocols["cifar10"] == Protocol(queries=100, labelled=500, map_at=None)
    assert protocols["nuswide21"] == Protocol(queries=100, labelled=500, map_at=5000)
    assert protocols["imagenet100"] == Protocol(queries=50, labelled=130, map_at=1000)


def test_an_unknown_name():
    with pytest.raises(UserError, match="there is no data set 'cifar100': did you mean cifar10"):
        load_dataset("cifar100")
    with pytest.raises(UserError, match=", ".join(NAMES)):
        load_dataset("xyz")


def test_what_is_read_is_sampled():
    whole, part = load_dataset("digits"), load_dataset("digits", count=200)
    assert len(whole.items) == 1797 and len(part.items) == 200
    assert list(part.items.ids) == list(whole.sample(200, seed=0).items.ids)
    assert len(load_dataset("digits", count=5000).items) == 1797


class TestMosaic:
    @pytest.fixture(autouse=True)
    def small_cifar10(self, monkeypatch):
        pixels = np.random.default_rng(0).integers(0, 256, (4000, 4, 4, 3), np.uint8)
        self.folders = []

        def raw(folder):
            self.folders.append(folder)
            return pixels, np.arange(4000) % 10

        monkeypatch.setattr(cifar10, "raw_cifar10", raw)

    def test_what_is_made_is_made_in_that_number(self, tmp_path):
        few, more = load_dataset("mosaic", tmp_path, 50), load_dataset("mosaic", count=700)
        assert few.labels.shape == (50, 10) and more.labels.shape == (700, 10)
        assert list(few.items.ids) == [str(n) for n in range(50)]  # not a sample of more
        assert self.folders == [tmp_path, None]

    def test_12000_by_default(self):
        with pytest.raises(UserError, match="12000 mosaics need"):  # more than this CIFAR-10 has
            load_dataset("mosaic")


class TestOwnRow:
    items = Items(np.eye(6), list("abcdef"), np.arange(6) % 2)

    def row(self, load, **changes):
        return DataSetRow(name="mine", help="six vectors", protocol=Protocol(1, 1), load=load, **changes)

    def test_the_row_has_the_last_word_on_name_and_protocol(self):
        row = self.row(lambda folder, count: Dataset("other", self.items, Protocol(2, 2)))
        data = load_dataset(row)
        assert (data.name, data.protocol) == ("mine", Protocol(1, 1))
        assert load_dataset(replace(row, protocol=Protocol(1, 2))).protocol == Protocol(1, 2)

    def test_what_loads_it_may_be_named(self):
        data = load_dataset(self.row("pts3h.data.datasets.digits:load_digits"))
        assert data.name == "mine" and len(data.items) == 1797

    @pytest.mark.parametrize(
        "wrong", [None, items, Dataset("x", Items(np.eye(2), ["a", "b"]), Protocol(1, 1))]
    )
    def test_something_else_is_refused(self, wrong):
        with pytest.raises(
            UserError, match="the data set mine must load as a Dataset whose items have labels"
        ):
            load_dataset(self.row(lambda folder, count: wrong))
