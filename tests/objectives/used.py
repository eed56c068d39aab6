"""Settings for tests of ``build``: every weight differs from its default and from the others."""

from dataclasses import replace

from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve

from ..systems import problems

BITS = 6


def used(**changes):
    settings = Settings.from_keywords(
        {"bits": BITS, "loss": "dsh", "seed": 5, "steps": 50, "neighbours": 0.0}
    )
    distinct = {"omega": 0.37, "gamma": 0.21, "eta": 0.013, "similar_share": 0.3}
    return replace(resolve(settings, problems.make_label_training()), **(distinct | changes))
