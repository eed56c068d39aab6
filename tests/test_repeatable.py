"""The same codes twice on the same machine, with as many threads as it gives by default."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PROJECT = Path(__file__).parent.parent


@pytest.mark.timeout(1200)  # every system twice, perhaps beside other work
@pytest.mark.parametrize("what", ["systems", "features", "figures"])
def test_same_twice(what):
    """In a process of its own, where nothing has limited the threads."""
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    command = [sys.executable, "-m", "tests.repeat", what]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
