"""Cells in processes: one that fails or dies costs itself alone."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

from pts3h.bench import matrix
from pts3h.bench.matrix import run_all, threads_each
from pts3h.bench.plan import Cell
from tests.bench.runners import run


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_costs_one_cell(tmp_path, workers):
    cells = [Cell("itq", bits, 50, 0) for bits in (12, 13, 14, 16, 17, 18)]
    outcome = dict(run_all(cells, partial(run, folder=tmp_path), workers))
    assert {*outcome} == {*cells}
    assert {cell.bits for cell, error in outcome.items() if error is None} == {12, 16, 17, 18}
    assert "unlucky" in str(outcome[cells[1]]) and "process died" in str(outcome[cells[2]])
    assert all((tmp_path / cell.file).is_file() for cell, error in outcome.items() if error is None)


def test_processes_share_the_cores_and_heed_the_environment(monkeypatch):
    monkeypatch.setattr(matrix, "usable_cores", lambda: 8)
    monkeypatch.setattr("pts3h.util.cores._limits", [])
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert [threads_each(count) for count in (1, 2, 4, 9)] == [3, 3, 2, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "99")
    assert threads_each(1) == 8


def test_each_cell_runs_once(tmp_path):
    cells = [Cell("itq", bits, 50, 0) for bits in (2, 3, 4, 5)]
    assert [error for _, error in run_all(cells, partial(run, folder=tmp_path), 2)] == [None] * 4
    assert {path.read_text() for path in tmp_path.glob("*.calls")} == {"x"}


def test_a_killed_matrix_leaves_no_process_behind(tmp_path):
    program = f"""
from functools import partial
from pathlib import Path
from pts3h.bench.matrix import run_all
from pts3h.bench.plan import Cell
from tests.bench.runners import run
if __name__ == "__main__":
    list(run_all([Cell("itq", 15, 50, 0)], partial(run, folder=Path({str(tmp_path)!r})), 1))
"""
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, tmp_path / "program.py"]
    parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 300  # it waits for torch, on a machine that may have other work
        while not (tmp_path / "pid").is_file():
            assert time.monotonic() < until, "the cell did not start"
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.communicate(timeout=60)  # its output ends when the last process that inherited it is gone


def test_nothing_to_do():
    assert list(run_all([], run, 2)) == []
