"""The settings as they are written down: name, type, default, meaning and group of every one."""

import ast
import inspect
import re
from dataclasses import dataclass
from itertools import pairwise

from . import asked

# first and last setting of each group, in the order of the class; the rest is general
GROUPS = {
    "Learning": ("omega", "ramp"),
    "Pictures": ("backbone", "jitter"),
    "Vectors": ("noise", "drop"),
}
GENERAL = "General"


@dataclass(frozen=True)
class Documented:
    """One setting.

    Attributes:
        name: its name.
        type: as written.
        default: as written.
        text: what it means, on one line.
        group: the part of the help that it belongs to.
    """

    name: str
    type: str
    default: str
    text: str
    group: str

    @property
    def plain(self) -> str:
        """What it means, without markup."""
        return re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"\1", self.text).replace("``", "")


def documented_settings() -> list[Documented]:
    """Every field of Settings, in order."""
    tree = ast.parse(inspect.getsource(asked))
    (settings,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    found, group = list[Documented](), GENERAL
    for field, below in pairwise(settings.body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        name = field.target.id
        text = (
            below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        )
        if not text or field.value is None:
            raise TypeError(f"the setting {name} needs a default and a docstring below it")
        group = next((title for title, (first, _) in GROUPS.items() if first == name), group)
        default, kind = ast.unparse(field.value).replace("'", '"'), ast.unparse(field.annotation)
        found.append(Documented(name, kind, default, " ".join(str(text).split()), group))
        if any(last == name for _, last in GROUPS.values()):
            group = GENERAL
    return found
