"""Where a figure comes from: the code that shaped it, and the libraries beneath.

The code of a figure is what all systems share and what its own system is made of. So a change of one system
leaves the figures of the others as they are, and a change of the command line leaves all of them.
"""

import ast
import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..systems.table import SYSTEMS
from .proven import same_figures

PACKAGE = __name__.partition(".")[0]
HOME = Path(__file__).resolve().parents[1]
# what lies between a data set and any figure; the kernel counts, and its tests say that it counts right
SHARED = ("codes.py", "evaluation.py", "data", "model", "nets", "settings", "training")
# what counts for the systems that are made of it
OWN = ("losses", "objectives", "systems", "unsupervised")
# What writes, reads, shows or explains shapes no figure, nor does what several processes share: a figure is
# made by one. Choices of settings, and what tries may draw, are compared by what comes of them: each run says
# with which settings it was made.
IDLE = frozenset(
    {
        "data/implied_pairs.py",
        "data/pair_files.py",
        "model/card.py",
        "model/earlier.py",
        "model/folder.py",
        "model/onnx_check.py",
        "model/onnx_export.py",
        "model/onnx_file.py",
        "model/onnx_runner.py",
        "model/replacing.py",
        "model/verdict.py",
        "nets/whole_batch.py",
        "settings/asked.py",
        "settings/defaults.py",
        "settings/documented.py",
        "settings/resolve.py",
        "settings/rules.py",
        "systems/ranges.py",
        "training/check.py",
        "training/checkpoint.py",
        "training/health.py",
        "training/output_folder.py",
        "training/ranks.py",
        "training/stopping.py",
        "training/tensorboard.py",
        "training/tuning.py",
    }
)
LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "pillow")


def provenance(method: str) -> dict[str, Any]:
    """What a cell of a system says of how it was made."""
    return {"code": code_digest(method), "versions": versions()}


def made_by(file: Path) -> str | None:
    """The code that wrote a result; None where it does not say."""
    try:
        found = json.loads(file.read_text(encoding="utf-8")).get("code")
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None


def code_digest(method: str) -> str:
    """A short name of the code that shapes a system's figures. Comments and documentation do not count."""
    return digest_over(shared_digest(), method)


def counts_as(code: str | None, method: str) -> str | None:
    """The code of a run; today's, if its figures are proven to be those of today.

    An earlier version of the shared code is looked for under today's code of the system: who changes both at
    once has proven nothing about the system.
    """
    if method not in SYSTEMS:  # of a user, who has not brought it along
        return code
    today = {digest_over(shared, method) for shared in same_figures(shared_digest())}
    return code_digest(method) if code in today else code


@cache
def digest_over(shared: str, method: str) -> str:
    """The short name of a system's code over some shared code."""
    system = SYSTEMS.find(method)
    digest = hashlib.sha256(shared.encode())
    for text in (*system.written(), *own_sources(system.made_of())):
        digest.update(text.encode())
    return digest.hexdigest()[:12]


@cache
def shared_digest() -> str:
    """The code that every figure goes through."""
    digest = hashlib.sha256()
    for room in SHARED:
        place = HOME / room
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            if (name := path.relative_to(HOME).as_posix()) not in IDLE:
                digest.update(f"{name} {meaning(path.read_text(encoding='utf-8'))}".encode())
    return digest.hexdigest()


def own_sources(modules: tuple[str, ...]) -> Iterator[str]:
    """The meaning of some modules, and of what they import of the rooms where each system has its own."""
    waiting, seen = list(modules), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if (path := file_of(name)) is not None:
            source = path.read_text(encoding="utf-8")
            yield f"{name} {meaning(source)}"
            waiting += sorted(imports_of(source, name))


def file_of(module: str) -> Path | None:
    """Where a system's own module is; None for what is shared, idle or not at hand."""
    package, *parts = module.split(".")
    if package != PACKAGE:  # a user's own row
        found = getattr(sys.modules.get(module), "__file__", None)
        return None if found is None else Path(found)
    path = HOME.joinpath(*parts).with_suffix(".py")
    is_own = parts[:1] and parts[0] in OWN and path.relative_to(HOME).as_posix() not in IDLE
    return path if is_own and path.is_file() else None


def imports_of(source: str, module: str) -> set[str]:
    """Modules of this package that a module imports, at its top or later."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(PACKAGE)):
            above = module.split(".")[: -node.level] if node.level else []
            name = ".".join([*above, *([node.module] if node.module else [])])
            found |= {name, *(f"{name}.{one.name}" for one in node.names)}
    return found


@cache
def meaning(source: str) -> str:
    """What a program does, without its comments, documentation, layout, declarations and tables of rows.

    A row says itself what it is: the row of one system should not count for the others. So does a setting.
    """
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not is_table(node)]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [one for one in body if not (is_text(one) or is_declaration(one))]
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    """Whether a statement is a string that nobody reads: documentation."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_declaration(node: ast.AST) -> bool:
    """Whether a statement gives a name a type and no value."""
    return isinstance(node, ast.AnnAssign) and node.value is None


def is_table(node: ast.AST) -> bool:
    """Whether a statement names a table of losses."""
    return isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["LOSSES"]


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
