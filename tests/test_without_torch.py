"""The real commands where torch cannot be imported, and where no extra is installed.

``make wheel`` does the same in an environment that has none of it.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pts3h import load_model
from pts3h.data.items import read_items
from tests.cli.commands import tree
from tests.model.exported import KINDS
from tests.pictures import write_pictures
from tests.web.servers import server

# what extras bring, by the names under which it is imported
EXTRAS = (
    *("torch", "onnxruntime", "onnx", "onnxscript", "faiss", "pymilvus", "matplotlib", "tensorboard", "timm"),
    *("pillow_heif", "fastapi", "starlette", "uvicorn", "prometheus_client", "sklearn", "scipy", "yaml"),
)
HIDE = "import os, sys; sys.modules.update(dict.fromkeys(os.environ['HIDDEN'].split(), None))\n"


@pytest.fixture
def hide(tmp_path, monkeypatch):
    """Hide packages from every Python that is started from here on, and from those that it starts."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(HIDE)
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)

    def these(*names):
        monkeypatch.setenv("HIDDEN", " ".join(names))

    return these


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def pts3h(*words):
    command = [sys.executable, "-m", "pts3h", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


def answers(*words):
    done = pts3h(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*words, says):
    done = pts3h(*words)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("pts3h: ") and done.stderr.count("\n") == 1 and says in done.stderr, (
        done.stderr
    )


def test_torch_is_hidden(hide):
    hide("torch")
    done = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, text=True)
    assert done.returncode == 1 and "ModuleNotFoundError" in done.stderr


def test_from_pictures_to_answers(exported, hide, here):
    """encode, index, search, dedup, report: the codes are torch's, but for outputs that are nearly zero."""
    model = exported("frozen")
    write_pictures(here / "photos", 70, side=20)
    hide("torch")
    said = json.loads(answers("encode", model, "photos", "--out", "codes.npy", "--json"))
    assert (said["items"], said["skipped"]) == (70, {})
    networks = load_model(model).networks
    outputs, _ = networks.run(read_items("photos"), "teacher", keep=False, progress=False)
    bits = np.unpackbits(np.load("codes.npy"), axis=1)[:, :12]
    differing = bits != (outputs >= 0)
    assert np.abs(outputs[differing]).max(initial=0) <= 1e-3 * np.abs(outputs).max()

    answers("index", model, "photos", "--to", "photos.index")
    (found,) = json.loads(answers("search", "photos.index", "photos/04.png", "-k", "3", "--json"))
    assert found["hits"][0]["distance"] == 0 and len(found["hits"]) == 3
    assert "photos/04.png" in answers("search", "photos.index", "photos/04.png", "--model", model)
    groups = json.loads(answers("dedup", "photos.index", "--radius", "0", "--json"))
    assert sum(map(len, groups)) <= 70
    answers("report", model, "photos", "--out", "report.html", "--queries", "2")
    assert (here / "report.html").stat().st_size > 10_000


def test_vectors_and_figures(exported, hide, here):
    model, (vectors, _) = exported("vectors"), KINDS["vectors"]
    np.save("vectors.npy", vectors)
    np.save("kinds.npy", np.arange(40) % 3)
    hide("torch")
    answers("encode", model, "vectors.npy", "--out", "codes.npy")
    labels = ("--query-labels", "kinds.npy", "--database-labels", "kinds.npy")
    figures = json.loads(
        answers("evaluate", "codes.npy", "codes.npy", "--bits", "12", "--look-bits", "3", *labels, "--json")
    )
    assert 0 < figures["map"] <= 1


def test_the_search_page(exported, hide, here):
    """Pictures are searched with; nothing can be trained, which is said."""
    model = exported("frozen")
    write_pictures(here / "photos", 12, side=20)
    hide("torch")
    answers("index", model, "photos", "--to", "photos.index")
    with server("serve", "photos.index", "--model", model) as running:
        content = (here / "photos" / "05.png").read_bytes()
        found = running.post("/api/search/picture", content=content, headers={"content-type": "image/png"})
        assert found.status_code == 200, found.text
        assert found.json()["hits"][0]["distance"] == 0
        begun = running.post("/api/jobs", json={})
        assert begun.status_code == 409 and "pts3h[train]" in begun.json()["error"]


def test_what_needs_torch_says_so(exported, hide, here):
    model = exported("vectors")
    write_pictures(here / "photos", 4)
    np.save("vectors.npy", KINDS["vectors"][0])
    hide("torch")
    before = tree(here)
    training = "training needs torch: pip install 'pts3h[train]'"
    refused("fit", "vectors.npy", "--out", "model", says=training)
    refused("bench", "digits", says=training)
    refused("demo", says=training)
    refused("export", model, "--onnx", says="exporting to ONNX needs torch: pip install 'pts3h[train]'")
    refused("encode", model, "vectors.npy", "--out", "codes.npy", "--network", "student", says="pts3h[train]")
    assert tree(here) == before
    refused("open", "photos", "--no-browser", says="learning codes needs torch: pip install 'pts3h[train]'")
    assert "encoding: onnxruntime, for models that pts3h export wrote as ONNX" in answers("doctor")


def test_with_no_extra_at_all(exported, hide, here):
    """Codes are indexed, searched and judged; what is missing is named in one line."""
    model = exported("vectors")
    write_pictures(here / "photos", 4)
    np.save("vectors.npy", KINDS["vectors"][0])
    answers("index", model, "vectors.npy", "--to", "vectors.index")
    answers("encode", model, "vectors.npy", "--out", "codes.npy")
    np.save("relevant.npy", np.eye(40, dtype=bool))
    hide(*EXTRAS)
    judged = ("--bits", "12", "--look-bits", "3", "--relevant", "relevant.npy")
    answers("evaluate", "codes.npy", "codes.npy", *judged)
    answers("dedup", "vectors.index")
    answers("cache")
    assert "encoding: nothing can encode here" in answers("doctor")
    missing = "needs onnxruntime: pip install 'pts3h[onnx]'"
    refused("search", "vectors.index", "vectors.npy", says=missing)
    refused("encode", model, "vectors.npy", "--out", "more.npy", says=missing)
    refused("serve", "vectors.index", "--model", model, says="pip install 'pts3h[web]'")
    refused("search", "milvus://localhost:1/none", "vectors.npy", says="pip install 'pts3h[milvus]'")
    refused("data", "digits", says="pip install")
    (model / "model.onnx").unlink()
    refused(
        "report", model, "vectors.npy", says="needs torch: pip install 'pts3h[train]'; or run 'pts3h export"
    )
    for command in ("fit", "bench", "demo", "open", "export"):
        assert answers(command, "--help")
