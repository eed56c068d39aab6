"""Commands in this process, and a folder for them to work in."""

import sys
import warnings

import numpy as np
import pytest

from pts3h.cli.app import main
from tests.cli.commands import Done, tree, write_pairs
from tests.pictures import random_pairs, write_pictures


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process, which spares a start of several seconds."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pts3h", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kinds(here):
    """photos/ with 60 small pictures of three kinds, vectors.npy, and 200 pairs of each as CSV."""
    kinds = write_pictures(here / "photos", 60)
    pairs = random_pairs(kinds, 200)
    write_pairs(here / "pairs.csv", pairs)
    np.savetxt(here / "positions.csv", pairs, "%d", ",")
    rng = np.random.default_rng(0)
    np.save(here / "vectors.npy", (np.eye(3, 8)[kinds] * 4 + rng.normal(size=(60, 8))).astype(np.float32))
    np.save(here / "kinds.npy", kinds)
    return kinds


@pytest.fixture
def refused(here, run, kinds):
    """Check that a mistake is one clear line, exit code 2, no traceback, and that nothing is changed."""

    def check(*arguments, says):
        before = tree(here)
        done = run(*arguments)
        assert done.code == 2 and done.out == ""
        assert done.err.startswith("pts3h: ") and done.err.count("\n") == 1 and says in done.err, done.err
        assert tree(here) == before

    return check
