"""The card of a model folder: what it is, how to use it, what it was trained on and with."""

from typing import Any

from ..settings.defaults import NO_BACKBONE
from ..settings.used import Used
from .verdict import verdict


def card(description: dict[str, Any]) -> str:
    """The README of a model folder."""
    settings, summary = description["settings"], description["summary"]
    facts = {name: value for name, value in summary.items() if name != "check"}
    layout = Used.from_json(settings).layout
    parts = f": {layout.meaning} learned ones and {layout.look} of the look" if layout.look else ""
    is_for_vectors = settings["backbone"] == NO_BACKBONE
    items = f"vectors of {description['width']} numbers" if is_for_vectors else "pictures"
    return "\n".join(
        [
            f"# A pts3h model: {layout}",
            "",
            f"It turns {items} into binary codes of {layout.bits} bits{parts}.",
            "",
            "```python",
            "import pts3h",
            'model = pts3h.load_model("this folder")',
            "codes = model.encode(items).codes",
            "```",
            "",
            *verdict(summary),
            "",
            "| trained on | |",
            "|---|---|",
            *(f"| {name.replace('_', ' ')} | {value} |" for name, value in facts.items()),
            "",
            "| setting used | |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in settings.items()),
            "",
            f"Fingerprint {description['fingerprint']}, written by pts3h {description['pts3h']}.",
            "",
        ]
    )
