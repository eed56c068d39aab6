"""How long to train while somebody waits for it."""

from dataclasses import replace

from ..settings.asked import Settings

STEPS = 300  # the library's default is up to 1,000
FIRST = range(385, 3_000)  # pictures that so few steps teach as much, where no pair is known
LABELLED = range(385, 20_000)  # pictures of which some have labels: a longer run learns those by heart


def first_settings(settings: Settings, count: int) -> Settings:
    """Settings for a first model of ``count`` pictures, for which somebody waits."""
    return replace(settings, steps=STEPS) if count in FIRST else settings


def lesson_settings(settings: Settings, count: int, *, labels: bool) -> Settings:
    """Settings to learn labels or pairs of some of ``count`` pictures by.

    What somebody asked for stays, and so does the default of other networks than the usual one, which is
    frozen. A model that was trained here knows our own number of steps: nobody asked for it.
    """
    usual = settings.steps in (None, STEPS) and settings.epochs is None and settings.freeze is not False
    if not usual or settings.backbone != "auto" or settings.weights is not None:
        return settings
    return replace(settings, steps=STEPS if labels and count in LABELLED else None)
