"""Model folders with their ONNX files, each made once per process: an export takes seconds."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from pts3h import load_model
from pts3h.model.onnx_export import export_onnx
from tests.model.models import SMALL, VECTORS, fitted
from tests.pictures import pictures

PICTURES = pictures(80, side=20)[0]
KINDS = {
    "vectors": (VECTORS, {"look_bits": 3}),
    "frozen": (PICTURES, SMALL | {"freeze": True}),
    "frozen, mirrored": (PICTURES, SMALL | {"freeze": True, "code_size": 24, "mirror": True, "look_bits": 5}),
    "whole, mirrored": (PICTURES, SMALL | {"code_size": 24, "mirror": True, "look_bits": 5}),
}


@cache
def made(kind: str) -> Path:
    """The folder of a model of this kind, which stays as it is."""
    items, settings = KINDS[kind]
    folder = Path(tempfile.mkdtemp(prefix="pts3h-exported-")) / "model"
    fitted(items[:40], **settings).save(folder)
    export_onnx(load_model(folder), folder / "model.onnx")
    return folder


def copied(kind: str, folder: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made(kind), folder))
