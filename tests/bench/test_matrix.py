"""Cells in processes: one that fails or dies costs itself alone."""

from functools import partial

import pytest

from pts3h.bench.matrix import run_all
from pts3h.bench.plan import Cell
from tests.bench.runners import run


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_costs_one_cell(tmp_path, workers):
    cells = [Cell("itq", bits, 50, 0) for bits in (12, 13, 14, 15, 16, 17)]
    outcome = dict(run_all(cells, partial(run, folder=tmp_path), workers))
    assert {*outcome} == {*cells}
    assert {cell.bits for cell, error in outcome.items() if error is None} == {12, 15, 16, 17}
    assert "unlucky" in str(outcome[cells[1]]) and "process died" in str(outcome[cells[2]])
    assert all((tmp_path / cell.file).is_file() for cell, error in outcome.items() if error is None)


def test_each_cell_runs_once(tmp_path):
    cells = [Cell("itq", bits, 50, 0) for bits in (2, 3, 4, 5)]
    assert [error for _, error in run_all(cells, partial(run, folder=tmp_path), 2)] == [None] * 4
    assert {path.read_text() for path in tmp_path.glob("*.calls")} == {"x"}


def test_nothing_to_do():
    assert list(run_all([], run, 2)) == []
