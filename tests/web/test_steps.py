"""Few steps while somebody waits, where they are enough and nobody asked for others."""

import pytest

from pts3h.settings.asked import Settings
from pts3h.web.steps import STEPS, first_settings, lesson_settings


@pytest.mark.parametrize(("count", "steps"), [(100, None), (1_000, STEPS), (6_000, None)])
def test_a_first_model_of_some_pictures_takes_few_steps(count, steps):
    """Of a hundred it takes as few anyway; of thousands it learns more in more."""
    assert first_settings(Settings(), count).steps == steps


@pytest.mark.parametrize("before", [None, STEPS])
@pytest.mark.parametrize(("labels", "steps"), [(True, STEPS), (False, None)])
def test_labels_take_few_steps_and_pairs_the_default(before, labels, steps):
    """Also where the model before was made in few."""
    assert lesson_settings(Settings(steps=before), 6_000, labels=labels).steps == steps


@pytest.mark.parametrize(
    "asked", [{"steps": 40}, {"epochs": 2}, {"freeze": False}, {"backbone": "small"}, {"weights": "random"}]
)
def test_what_somebody_asked_for_stays(asked):
    settings = Settings.from_keywords(asked)
    assert lesson_settings(settings, 1_000, labels=True) == settings
