"""docs/recipes/data-set.md, carried out: a data set from outside the package."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pts3h import UserError
from pts3h.bench.cells import read_results
from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.bench.report import write_report
from pts3h.bench.sources import split_of
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.datasets.table import DATASETS, DataSetRow, load_dataset
from pts3h.data.items import Items
from pts3h.data.splits import Protocol
from tests.recipes.pages import python_blocks, run_blocks

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


def test_compared_in_processes(tmp_path):
    plan = Plan(Setup(ROW), methods=["lsh", "splh"], bits=[8], label_counts=[12], runs=2)
    assert plan.setup.data_name == "corners" and DATASETS.own() == [ROW]
    folder = tmp_path / "results"
    assert run_matrix(plan, folder, workers=2, progress=False) == 0
    results = read_results(folder)
    assert len(results) == 4 and {result["map_at"] for result in results} == {20}
    data = load_dataset(ROW)
    for result in results:
        assert result["split"] == split_of(data, 12, result["cell"].seed).digest()
        assert 0.25 < result["map"] <= 1  # four classes
    write_report(folder)
    assert "corners" in (folder / "report.html").read_text()


def test_the_page_as_it_stands(tmp_path, capsys):
    module, split, training, script = python_blocks("data-set.md")
    run_blocks("data-set.md", [module, split])
    assert capsys.readouterr().out == "30 15 270\n"
    run_blocks("data-set.md", [module, split, training])
    assert float(capsys.readouterr().out.split()[-1]) > 0.9  # three clouds four spreads apart
    (tmp_path / "clouds.py").write_text(module)
    (tmp_path / "compare.py").write_text(script)
    command = [sys.executable, "compare.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "results" / "clouds").glob("*-seed*.json"))) == 6
    assert "PTS3H-DSH" in (tmp_path / "results" / "clouds" / "table.md").read_text()
