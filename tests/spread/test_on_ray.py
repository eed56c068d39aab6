"""A real Ray cluster on this machine: every item once, also if workers are killed at the worst moments."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from pts3h import UserError
from pts3h.spread.on_ray import room
from tests.spread.sources import held, rows_of, vectors

PROJECT = Path(__file__).parents[2]
# Python imports it in every process, Ray's workers too. Each death happens once, whoever gets there first.
DEADLY = """
import os, signal
from pathlib import Path

replace, deaths = os.replace, Path(os.environ["DEATHS"])

def die(name):
    try:
        (deaths / name).open("x").write(str(os.getpid()))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)

def deadly(source, target):
    name = Path(target).name
    if name == "part-000002.parquet":
        die("before")  # the shard is written, but not in its place
    replace(source, target)
    if name == "part-000007.parquet":
        die("after")  # it is in its place, but nobody was told

os.replace = deadly
"""


@pytest.fixture
def ray_environment(tmp_path, monkeypatch):
    """Processes of Ray keep to a folder of this test; with short names, since they are those of sockets."""
    folder = tempfile.mkdtemp(prefix="ray")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    monkeypatch.setenv("HOME", str(tmp_path))  # where it keeps the token of its clusters
    yield os.environ
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.alone  # the parts of Ray wait for each other for 15 seconds, which no setting changes
@pytest.mark.timeout(900)  # half a minute where there is nothing else to do
def test_killed_workers_lose_and_repeat_nothing(tmp_path, vector_model, ray_environment):
    folder, model = vector_model
    np.save(tmp_path / "v.npy", vectors(600))
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "sitecustomize.py").write_text(DEADLY)
    (tmp_path / "deaths").mkdir()
    paths = [tmp_path / "python", PROJECT / "src", PROJECT]
    environment = ray_environment | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "DEATHS": str(tmp_path / "deaths"),
    }
    words = ["encode", folder, tmp_path / "v.npy", "--out", tmp_path / "out", "--part-size", 50, "--json"]
    command = [sys.executable, "-m", "pts3h", *words, "--on", "ray", "--workers", 2]
    for _ in range(3):
        done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
        if "Ray did not start here" not in done.stderr:  # it does not, on a machine that is very busy
            break
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["items"], told["encoded"], told["shards"], told["skipped"]) == (600, 600, 12, {})
    dead = [int(path.read_text()) for path in (tmp_path / "deaths").iterdir()]
    assert len(dead) == 2 and not any(Path("/proc", str(process)).exists() for process in dead)
    encoded = model.encode(vectors(600))
    assert held(tmp_path / "out") == (encoded.ids, rows_of(encoded.codes))
    assert "usage stat" not in done.stderr.lower()  # nothing is reported to its makers


def test_room_for_workers():
    assert room({"CPU": 8.0, "memory": 1.0}, None) == (8, 0)
    assert room({"CPU": 8.0}, 3) == (3, 0)
    assert room({"CPU": 32.0, "GPU": 4.0}, None) == (4, 1)
    assert room({}, None) == (1, 0)


def test_without_ray_a_line_names_the_extra(tmp_path, vector_model, monkeypatch):
    from pts3h.spread.job import encode_on

    np.save(tmp_path / "v.npy", vectors(5))
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"--on ray needs ray: pip install 'pts3h\[ray\]'"):
        encode_on("ray", vector_model[0], tmp_path / "v.npy", tmp_path / "out")
    assert not (tmp_path / "out").exists()
