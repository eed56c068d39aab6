"""docs/recipes/data-set.md, carried out: a data set from outside the package."""

import re
from pathlib import Path

import numpy as np
import pytest

from pts3h import UserError
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.datasets.table import DATASETS, DataSetRow, load_dataset
from pts3h.data.items import Items
from pts3h.data.splits import Protocol

PAGE = Path(__file__).parents[2] / "docs" / "recipes" / "data-set.md"
PROTOCOL = Protocol(queries=4, labelled=3, map_at=20)
LABELS = np.arange(80) % 4


def load_corners(folder, count):
    """Vectors at the corners of a square, read from ``folder`` if there is one."""
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) if folder is None else np.load(folder / "c.npy")
    return Dataset("corners", Items(corners[LABELS] * 1.0, [f"v{n}" for n in range(80)], LABELS), PROTOCOL)


ROW = DataSetRow(name="corners", help="80 corners of a square", protocol=PROTOCOL, load=load_corners)


@pytest.fixture(autouse=True)
def ours_alone(monkeypatch):
    """Rows that a test introduces are gone after it."""
    monkeypatch.setattr(DATASETS, "_rows", dict(DATASETS._rows))


def test_loaded_by_object_and_then_by_name():
    with pytest.raises(UserError, match="there is no data set 'corners'"):
        load_dataset("corners")
    first, second = load_dataset(ROW), load_dataset("corners")
    assert first.name == second.name == "corners" and DATASETS.names()[-1] == "corners"
    np.testing.assert_array_equal(first.items.content, second.items.content)


def test_ours_keep_their_names():
    with pytest.raises(UserError, match="there is a data set called digits already"):
        load_dataset(DataSetRow(name="digits", help="others", protocol=PROTOCOL, load=load_corners))


def test_split_by_its_protocol():
    data = load_dataset(ROW)
    split = data.split(seed=3)
    assert np.bincount(LABELS[split.queries]).tolist() == [4] * 4
    assert np.bincount(LABELS[split.labelled]).tolist() == [3] * 4
    assert {*split.database} == {*range(80)} - {*split.queries} and {*split.labelled} <= {*split.database}
    assert data.protocol.map_at == 20 and data.split(seed=4).digest() != split.digest()


def test_part_of_it():
    part = load_dataset(ROW, count=40)
    assert np.bincount(part.labels).tolist() == [10] * 4
    for item, label in zip(part.items.ids, part.labels, strict=True):
        assert LABELS[int(item[1:])] == label


def test_from_the_users_folder(tmp_path):
    np.save(tmp_path / "c.npy", np.full((4, 2), 7))
    assert (load_dataset(ROW, str(tmp_path)).items.content == 7).all()


def test_the_page_as_it_stands(capsys):
    smallest, training = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[:2]
    names = {"__name__": "pasted"}
    exec(compile(smallest, PAGE.name, "exec"), names)
    assert capsys.readouterr().out == "30 15 270\n"
    exec(compile(training, PAGE.name, "exec"), names)
    assert float(capsys.readouterr().out) > 0.9  # three clouds four spreads apart
