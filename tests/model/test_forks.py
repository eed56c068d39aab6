"""A model in a process that was forked off one that has used it, as servers and multiprocessing do."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pts3h import load_model
from tests.model.exported import KINDS
from tests.model.models import SMALL, VECTORS, fitted
from tests.pictures import pictures, write_pictures

PROJECT = Path(__file__).parents[2]

SCRIPT = """
import os, signal, sys
import numpy as np
import pts3h
from pts3h.data.items import read_items

folder, items, out, used = sys.argv[1:]
model = pts3h.load_model(folder)
items = np.load(items) if items.endswith(".npy") else read_items(items)
if used == "used":
    model.encode(items, progress=False)
child = os.fork()
if child == 0:
    signal.alarm(90)  # a child that hangs must not outlive the test
    os.environ["PTS3H_CACHE"] = out + ".cache"  # nothing is known there
    np.save(out, model.encode(items, progress=False).codes)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.parametrize("used", ["used", "only loaded"])
@pytest.mark.parametrize("kind", ["vectors", "frozen", "whole network", "files"])
def test_a_forked_child_encodes(tmp_path, kind, used):
    items, settings = pictures(200, side=16)[0], SMALL | {"freeze": kind != "whole network"}
    if kind == "vectors":
        items, settings = np.repeat(VECTORS, 500, axis=0), {"hidden": 512}
    hasher = fitted(items[:40], **settings)
    hasher.save(tmp_path / "model")
    source = tmp_path / "items.npy"
    np.save(source, items)
    if kind == "files":
        source = tmp_path / "photos"
        write_pictures(source, 80)
        items = source
    check_child(tmp_path, source, used, hasher.encode(items))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.parametrize("used", ["used", "only loaded"])
def test_a_forked_child_encodes_by_onnxruntime(tmp_path, exported, used):
    items, source = KINDS["frozen"][0][:64], tmp_path / "items.npy"
    np.save(source, items)
    check_child(tmp_path, source, used, load_model(exported("frozen")).encode(items).codes)


def check_child(folder, source, used, expected):
    """What a child of another process makes of the same items."""
    command = [sys.executable, "-c", SCRIPT, folder / "model", source, folder / "codes.npy", used]
    two_threads = os.environ | {"OMP_NUM_THREADS": "2"}
    subprocess.run(command, check=True, timeout=100, env=two_threads, cwd=PROJECT)
    codes = np.load(folder / "codes.npy")
    # another number of threads may round another way
    assert codes.shape == expected.shape and np.unpackbits(codes ^ expected).mean() < 0.01


ENDS = """
import os, sys
import pts3h
model = pts3h.load_model(sys.argv[1])
if os.fork():
    assert os.wait()[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_child_ends_where_onnxruntime_was_loaded(exported):
    """It must not wait for threads that it does not have."""
    two_threads = os.environ | {"OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", ENDS, exported("frozen")]
    subprocess.run(command, check=True, timeout=100, env=two_threads, cwd=PROJECT)
