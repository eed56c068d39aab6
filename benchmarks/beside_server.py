"""Run a benchmark beside a real server of its own, as the tests start it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

PROJECT = Path(__file__).parents[1]


def run_beside(engine: str) -> NoReturn:
    """Start a server of an engine, and this program once more with the variables that name it."""
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", f"tests.index.{engine}.server", sys.executable, *sys.argv]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    sys.exit(subprocess.run(command, env=environment).returncode)
