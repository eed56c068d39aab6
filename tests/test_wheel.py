"""One wheel serves every Python that the project promises, and brings all of it."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
SOURCE = PROJECT / "src"
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]


def test_ci_tests_the_versions_that_are_promised():
    workflow = yaml.safe_load((PROJECT / ".github/workflows/ci.yml").read_text())
    tested = workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]
    promised = [found[1] for text in METADATA["classifiers"] if (found := re.search(r":: (3\.\d+)$", text))]
    assert tested == promised and METADATA["requires-python"] == f">={promised[0]}"


@pytest.mark.slow
def test_what_is_in_the_wheel(tmp_path):
    for name in ("src", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        here = PROJECT / name
        if here.is_dir():
            shutil.copytree(here, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "*.egg-info"))
        else:
            shutil.copy(here, tmp_path)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."]
    subprocess.run(command, cwd=tmp_path, check=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.startswith(f"pts3h-{METADATA['version']}-cp311-abi3-")

    files = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    assert modules | {"pts3h/py.typed"} <= files
    kernels = [
        name for name in files if name.startswith("pts3h/kernel/_kernel.") and not name.endswith(".pyi")
    ]
    assert len(kernels) == 1 and "cpython" not in kernels[0]
