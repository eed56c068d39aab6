"""Cells in processes: one that fails or dies costs itself alone."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pts3h.bench.matrix import run_all
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


def test_each_cell_runs_once(tmp_path):
    cells = [Cell("itq", bits, 50, 0) for bits in (2, 3, 4, 5)]
    assert [error for _, error in run_all(cells, partial(run, folder=tmp_path), 2)] == [None] * 4
    assert {path.read_text() for path in tmp_path.glob("*.calls")} == {"x"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who is alive")
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
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, tmp_path / "program.py"]
    environment = {**os.environ, "PYTHONPATH": paths}
    parent = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    child = int(wait_for(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text()))
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_running(child))


def wait_for(condition):
    """What ``condition`` returns, once it is true."""
    until = time.monotonic() + 30
    while not (found := condition()):
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)
    return found


def is_running(pid):
    """Whether the process is alive; one that nobody has buried yet is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_nothing_to_do():
    assert list(run_all([], run, 2)) == []
