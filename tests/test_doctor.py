import json
import os
import subprocess
import sys

import pytest

from pts3h.doctor import diagnose


def say(**environment):
    code = (
        "import json, sys; from pts3h.doctor import diagnose; d = diagnose()\n"
        "print(json.dumps(d.as_dict())); print('torch' in sys.modules, 'faiss' in sys.modules); print(d)"
    )
    command, env = [sys.executable, "-c", code], {**os.environ, **environment}
    first, second, *text = subprocess.run(
        command, env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert second == "False False"
    return json.loads(first)["search"], "\n".join(text)


def test_without_the_kernel():
    search, text = say(PTS3H_NO_KERNEL="1")
    assert search["active"] in ("faiss", "numpy")
    assert "PTS3H_NO_KERNEL is set" in search["why"]
    assert f"search: {search['active']} (PTS3H_NO_KERNEL is set)" in text


def test_with_the_kernel():
    pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)
    search, text = say(PTS3H_NO_KERNEL="", PTS3H_KERNEL_LEVEL="portable", PTS3H_THREADS="1")
    assert (search["active"], search["level"], search["threads"]) == ("kernel", "portable", 1)
    assert "PTS3H_KERNEL_LEVEL asks for portable" in search["why"]
    assert "instructions portable" in text
    assert "which is not here" in say(PTS3H_NO_KERNEL="", PTS3H_KERNEL_LEVEL="sse99")[0]["why"]


def test_packages_are_named_with_what_brings_them(monkeypatch):
    from importlib import metadata

    def nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", nothing)
    text = str(diagnose())
    assert "numpy is missing" in text
    assert "torch not installed (pip install pts3h[train]): training, and encoding" in text
    assert "pymilvus not installed (pip install pts3h[milvus]): indexes on a Milvus server" in text
    assert "psycopg not installed (pip install pts3h[postgres]): indexes in a Postgres database" in text


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ([], "torch; onnxruntime for 64 items or fewer, if pts3h export wrote the model as ONNX"),
        (["onnxruntime"], "torch"),
        (["torch"], "onnxruntime, for models that pts3h export wrote as ONNX"),
        (["torch", "onnxruntime"], "nothing can encode here"),
    ],
)
def test_what_encodes(monkeypatch, missing, said):
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    assert f"\nencoding: {said}\n" in str(diagnose())
