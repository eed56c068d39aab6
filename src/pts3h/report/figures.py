"""What there is to say in numbers: the held-out check, what was trained on, settings, skipped pictures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..util.markup import paragraph, table

if TYPE_CHECKING:  # torch is imported by whoever has a model
    from ..model.model import Model

MOST_SKIPPED = 20


def figures(model: "Model", skipped: Mapping[str, str]) -> str:
    """All tables."""
    summary = dict(model.summary)
    check = summary.pop("check", None)
    return (
        (facts("On held-out pairs", check) if check else "")
        + facts("Trained on", summary)
        + (unreadable(skipped) if skipped else "")
        + f"<details><summary>Settings used</summary>{facts('Settings used', model.used.to_json())}</details>"
    )


def facts(caption: str, values: Mapping[str, Any]) -> str:
    """Names and values."""
    rows = [[name.replace("_", " "), readable(value)] for name, value in values.items()]
    return table(caption, ["name", "value"], rows)


def readable(value: Any) -> str:
    """A value as people write it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.4g}"
        case dict():
            return ", ".join(f"{name} {readable(part)}" for name, part in value.items())
    return str(value)


def unreadable(skipped: Mapping[str, str]) -> str:
    """The first pictures that cannot be read, and why."""
    rows = list(skipped.items())[:MOST_SKIPPED]
    more = len(skipped) - len(rows)
    note = paragraph(f"{more:,} more are not listed.") if more else ""
    return table("Pictures that cannot be read", ["picture", "reason"], rows) + note
