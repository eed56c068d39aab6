"""Where a figure comes from: the code that shaped it, and the libraries beneath."""

import ast
import hashlib
import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__

HOME = Path(__file__).resolve().parents[1]
# what lies between a data set and a figure; the kernel counts, and its tests say that it counts right
SHAPING = (
    "codes.py",
    "evaluation.py",
    "data",
    "losses",
    "model",
    "nets",
    "objectives",
    "settings",
    "systems",
    "training",
    "unsupervised",
)
LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "pillow")


def provenance() -> dict[str, Any]:
    """What a cell says of how it was made."""
    return {"code": code_digest(), "versions": versions()}


def made_by(file: Path) -> str | None:
    """The code that wrote a result; None where it does not say."""
    try:
        found = json.loads(file.read_text(encoding="utf-8")).get("code")
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None


@cache
def code_digest() -> str:
    """A short name of the code that shapes figures. Comments and documentation do not count."""
    digest = hashlib.sha256()
    for name in SHAPING:
        place = HOME / name
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            digest.update(path.relative_to(HOME).as_posix().encode())
            digest.update(meaning(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:12]


def meaning(source: str) -> str:
    """What a program does, without its comments, documentation and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and is_text(body[0]):
            del body[0]
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    """Whether a statement is a string that nobody reads: documentation."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@cache
def versions() -> dict[str, str]:
    """Of this library, of Python and of the libraries that compute."""
    found = {"pts3h": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
