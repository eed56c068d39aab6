"""The architecture page tells the truth: its walks are what the commands do, its drawing is the contract."""

import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pts3h.bench import matrix
from pts3h.bench.sources import load_data
from pts3h.cli.app import main

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "architecture.md").read_text()
WALKS = dict(re.findall(r"^### (\w+)\n.*?```text\n(.*?)```", PAGE, flags=re.M | re.S))


class Tracer:
    """First calls of the functions of pts3h, in order."""

    def __init__(self):
        self.calls = {}

    def __call__(self, frame, event, argument):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("pts3h."):
            name = f"{module.removeprefix('pts3h.')}.{frame.f_code.co_qualname}"
            self.calls.setdefault(name, len(self.calls))


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Run a command in this process and return the order of first calls."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for number in range(24):
        pixels = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{number:02}.png")
    rows = [f"{a:02}.png,{a + 1:02}.png,{int(a % 4 == 0)}" for a in range(0, 16, 2)]
    (tmp_path / "pairs.csv").write_text("a,b,similar\n" + "\n".join(rows) + "\n")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["pts3h", *words])
        tracer = Tracer()
        sys.setprofile(tracer)
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        finally:
            sys.setprofile(None)
        return tracer.calls

    return run


def check(walk, calls):
    """Every line of a walk is called, in the order of the page; some are called again before their line."""
    names = [line.split()[0] for line in WALKS[walk].strip().splitlines()]
    missing = [name for name in names if name not in calls]
    assert missing == []
    order = [calls[name] for name in names]
    assert order == sorted(order), [
        f"{b} comes before {a}" for a, b in pairwise(names) if calls[b] < calls[a]
    ]


FIT = ["fit", "photos", "--pairs", "pairs.csv", "--bits", "16", "--steps", "3", "--out", "model"]


def test_fit_encode_and_search(trace):
    check("fit", trace(*FIT))
    check("encode", trace("encode", "model", "photos", "--out", "codes.npy"))
    trace("index", "model", "photos", "--to", "photos.index")
    check("search", trace("search", "photos.index", "photos/01.png", "-k", "3"))


def test_bench(trace, monkeypatch):
    real = matrix.run_all

    def run_all(cells, run, workers):
        assert list(real([], run, 1)) == []  # the real one, for the trace; the cells run in this process
        return ((cell, run(cell)) for cell in cells)

    monkeypatch.setattr(matrix, "run_all", run_all)
    load_data.cache_clear()  # another test may have loaded the same
    words = ["--methods", "pts3h-dsh", "itq", "--bits", "12", "--label-count", "60", "--runs", "1"]
    small = ["--images", "300", "--steps", "3", "--image-size", "32"]
    check("bench", trace("bench", "digits", *words, *small, "--out", "results"))


def test_the_drawing_is_the_contract():
    drawn = re.search(r"```text\n(cli .*?)```", PAGE, flags=re.S).group(1).splitlines()
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    (rooms,) = (c for c in settings["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    layers = [re.split(r"\s+\|\s+", layer) for layer in rooms["layers"]]
    assert [line.split()[: len(layer)] for line, layer in zip(drawn, layers, strict=True)] == layers
    folders = {path.stem for path in (PROJECT / "src/pts3h").iterdir() if path.suffix in ("", ".py")}
    rest = folders - {name for layer in layers for name in layer}
    assert rest <= {"__init__", "__main__", "__pycache__"}, "every room is in the drawing"


def test_a_wrong_import_fails(tmp_path):
    """data must not know the networks: say so in a copy, and the contract breaks."""
    aside = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PROJECT / "src/pts3h", tmp_path / "pts3h", ignore=aside)
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]

    def lint():
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": "."})

    assert lint().returncode == 0, lint().stdout
    items = tmp_path / "pts3h/data/items.py"
    items.write_text(items.read_text() + "\nfrom ..nets import hash_network as hash_network\n")
    broken = lint()
    assert broken.returncode == 1 and "pts3h.data.items -> pts3h.nets.hash_network" in broken.stdout
