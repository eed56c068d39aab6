"""No page is handed over with a place that somebody meant to fill in later."""

import re

import pytest

from tests.docs.blocks import PROJECT

PAGES = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md"), *PROJECT.glob("results/*/remarks.md")])
LATER = re.compile(r"^[A-Z][A-Z_ ]{2,}$|\b(TODO|TBD|FIXME|XXX)\b", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_nothing_is_left_to_be_filled_in(page):
    assert LATER.search(page.read_text(encoding="utf-8")) is None


@pytest.mark.parametrize("text", ["## How quick\nSPEED\n", "It takes TBD ms.", "TO COME"])
def test_such_places_are_noticed(text):
    assert LATER.search(text)
