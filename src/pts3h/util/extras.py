"""Packages that may be missing: a line says which extra brings one."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..errors import UserError

EXTRA_OF = {"torch": "train", "onnxruntime": "onnx", "onnxscript": "onnx-export"}


def is_installed(package: str) -> bool:
    """Whether a package is there; it is not imported."""
    return find_spec(package) is not None


def install(package: str) -> str:
    """What to type to get a package."""
    return f"pip install 'pts3h[{EXTRA_OF[package]}]'"


def require(package: str, purpose: str) -> None:
    """Say what is missing before anything is done."""
    if not is_installed(package):
        raise UserError(f"{purpose} needs {package}: {install(package)}")


def from_extra(module: str, extra: str, *, wants: str) -> Any:
    """An optional module.

    Args:
        module: its name.
        extra: what installs it.
        wants: who needs it, for the message: "a Parquet file".
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UserError(f"{wants} needs {package}: pip install 'pts3h[{extra}]'") from error
