"""Models of earlier formats."""

from collections.abc import Mapping
from typing import Any

from ..settings.defaults import FOR_VECTORS, NO_BACKBONE, window_alpha


def from_format_1(stored: Mapping[str, Any], summary: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """Settings in which something was left open (None), filled in as training did then.

    Args:
        stored: the settings as they were written.
        summary: what the model was trained on.
        steps: how many there were, for a run that was given in epochs.
    """
    settings = {name: value for name, value in stored.items() if name != "epochs"}
    if settings["steps"] is None:
        settings["steps"] = steps
    if settings["alpha"] is None:
        settings["alpha"] = window_alpha(settings["steps"])
    if settings["similar_share"] is None:
        settings["similar_share"] = summary["similar_share"]
    if settings["backbone"] == NO_BACKBONE:
        settings |= {name: value for name, value in FOR_VECTORS.items() if settings.get(name, 0) is None}
    return {name: 0 if value is None else value for name, value in settings.items()}
