"""What is made from the settings: their page, and the signature of ``Hasher``."""

import re
import textwrap
from itertools import groupby
from typing import get_args

from pts3h.cli.setting_flags import flag_names
from pts3h.losses.table import LOSSES, SHORT, Loss, Reading
from pts3h.nets.backbones.table import BACKBONES, BackboneRow
from pts3h.settings.asked import Optimizer, Precision
from pts3h.settings.documented import Documented, documented_settings

CHOICES = {
    "Reading": Reading,
    "Optimizer": Optimizer,
    "Precision": Precision,
}  # types whose values say more than their names

__all__ = ["documented_settings", "hasher_signature", "settings_tables"]


def settings_tables() -> str:
    """Every setting by group, then what each loss and each backbone brings along."""
    flags, settings = flag_names(), documented_settings()
    order = list(dict.fromkeys(setting.group for setting in settings))
    parts = []
    for group, members in groupby(sorted(settings, key=lambda s: order.index(s.group)), lambda s: s.group):
        rows = [setting_row(setting, flags[setting.name]) for setting in members]
        parts += [f"## {group}", table(["Setting", "Type", "Meaning", "Flag of `fit`"], rows)]
    parts += ["## What each loss brings along", LOSSES_LEAD]
    head = [
        "Loss",
        "omega",
        "gamma",
        "eta",
        "Learning rate",
        "Labelled per batch",
        "without unlabelled items",
    ]
    parts.append(table(head, [loss_row(loss) for loss in LOSSES]))
    head = ["Backbone", "What it is", "Pretrained weights", "Smallest side", "Hidden layer"]
    parts += ["## What each backbone brings along", table(head, [backbone_row(row) for row in BACKBONES])]
    return "\n\n".join(parts)


LOSSES_LEAD = (
    "These were measured on frozen features of CIFAR-10 ([decisions](decisions.md)). "
    "The learning rate is that of SGD on vectors and frozen features."
)


def setting_row(setting: Documented, flag: list[str]) -> list[str]:
    """A setting as a row."""
    kind = setting.type.removesuffix(" | None")
    if choices := get_args(CHOICES.get(kind)):
        kind = " | ".join(f'"{choice}"' for choice in choices)
    spelt = ", ".join(f"`{name}`" for name in "/".join(flag).split("/"))
    return [f"`{setting.name}`", f"`{kind}`", as_cell(setting.text), spelt]


def loss_row(loss: Loss) -> list[str]:
    """The defaults of a loss as a row."""
    slower = f", times (bits / {SHORT})^{loss.steepness:g} below {SHORT} bits" if loss.steepness else ""
    weights = [f"{value:g}" for value in (loss.omega, loss.gamma, loss.eta)]
    batches = [f"{loss.labelled_per_batch}", f"{loss.labelled_alone}"]
    return [f"`{loss.name}`", *weights, f"{loss.learning_rate:g}{slower}", *batches]


def backbone_row(row: BackboneRow) -> list[str]:
    """An image network as a row."""
    hidden = f"{row.hidden}" if row.hidden else "none"
    return [f"`{row.name}`", row.help, "no" if row.pretrained is None else "yes", f"{row.smallest}", hidden]


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def as_cell(text: str) -> str:
    """Inline reStructuredText, as docstrings have it, in Markdown."""
    text = re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"(\w+:<\w+>)", r"`\1`", text)


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
