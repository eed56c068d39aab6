"""The settings as they are written down: name, type, default and docstring of every field."""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from itertools import pairwise

from pts3h.settings import asked


@dataclass(frozen=True)
class Documented:
    """One setting: its name, its type and default as written, and what it means."""

    name: str
    type: str
    default: str
    text: str


def documented_settings() -> list[Documented]:
    """Every field of Settings, in order."""
    tree = ast.parse(inspect.getsource(asked))
    (settings,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    found = []
    for field, below in pairwise(settings.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            is_docstring = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if not is_docstring or field.value is None:
                raise SystemExit(f"the setting {field.target.id} needs a default and a docstring below it")
            text = " ".join(str(below.value.value).split())
            default, kind = ast.unparse(field.value).replace("'", '"'), ast.unparse(field.annotation)
            found.append(Documented(field.target.id, kind, default, text))
    return found


def hasher_signature(source: str) -> str:
    """The source of ``Hasher`` with every setting in its signature and docstring, for editors to show."""
    settings = documented_settings()
    parameters = "".join(f"        {s.name}: {s.type} = {s.default},\n" for s in settings)
    lines = []
    for setting in settings:
        text = re.sub(r":class:`~[\w.]+\.(\w+)`", r"\1", f"{setting.name}: {setting.text}")
        lines += textwrap.wrap(text, 110 - 12, initial_indent=" " * 12, subsequent_indent=" " * 16)
    start = source.index("        *,\n", source.index("def __init__(")) + len("        *,\n")
    end = source.index("    ) -> None:", start)
    source = source[:start] + parameters + source[end:]
    start = source.index("        Args:\n", source.index("def __init__(")) + len("        Args:\n")
    end = source.index('        """\n', start)
    return source[:start] + "\n".join(lines) + "\n" + source[end:]
