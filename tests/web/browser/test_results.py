"""Searching with pictures of the collection: hits, options, the panel, answers to hits."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import of
from tests.web.browser.stub import BITS


def search(visit, stub, index=3, **how):
    page = visit(stub.url, **how)
    of(page, "gallery").locator(f'[data-index="{index}"]').click()
    expect(of(page, "distance").first).to_be_visible()
    return page


def expect_hits(page, expected):
    """The first hits become these, (name, distance) in order."""
    for index, (name, distance) in enumerate(expected):
        expect(of(page, "results").locator(f'[data-index="{index}"]')).to_have_attribute(
            "aria-label", re.compile(rf"^{re.escape(name)}, .*\bdistance {distance}\b")
        )


def nearest(stub, index, count, by="both"):
    """The same by brute force."""
    differ = stub.codes != stub.codes[index]
    meaning, look = differ[:, :BITS].sum(1), differ[:, BITS:].sum(1)
    far = {"both": 3 * meaning + look, "meaning": meaning, "look": look}[by]
    order = np.lexsort((np.arange(len(far)), far))[:count]
    return [(stub.ids[at], int(far[at])) for at in order]


def panel_of(page, index):
    expect(of(page, "results")).not_to_have_attribute("aria-busy", "true")
    of(page, "results").locator(f'[data-index="{index}"]').click()
    expect(of(page, "why")).to_be_visible()


def test_a_click_searches_and_distances_are_shown(visit, stub):
    page = search(visit, stub)
    expect_hits(page, nearest(stub, 3, 10))
    expect(of(page, "chip-like")).to_contain_text(stub.ids[3])
    expect(of(page, "line")).to_have_text(re.compile("24 nearest"))
    assert page.evaluate("location.hash").startswith("#/?like=")


@pytest.mark.parametrize("by", ["meaning", "look"])
def test_by_meaning_and_by_look(visit, stub, by):
    page = search(visit, stub)
    of(page, f"by-{by}").check(force=True)
    expect_hits(page, nearest(stub, 3, 10, by))
    assert f"by={by}" in page.evaluate("location.hash")


def test_radius_ends_the_list_and_the_way_back_undoes_it(visit, stub):
    page = search(visit, stub)
    radius = nearest(stub, 3, 8)[-1][1]
    of(page, "radius").fill(str(radius))
    within = [hit for hit in nearest(stub, 3, 2_000) if hit[1] <= radius]
    expect(of(page, "line")).to_contain_text(f"{len(within)} within distance {radius}")
    expect(of(page, "results").locator(".tile")).to_have_count(len(within))
    expect_hits(page, within)
    page.go_back()
    expect(of(page, "line")).to_contain_text("24 nearest")


def test_more_hits_follow(visit, stub):
    page = search(visit, stub)
    of(page, "more").click()
    expect(of(page, "line")).to_contain_text("48 nearest")
    expect(of(page, "results").locator('[data-index="24"]')).to_be_focused()
    assert (
        of(page, "results")
        .locator('[data-index="24"]')
        .get_attribute("aria-label")
        .startswith(nearest(stub, 3, 25)[24][0])
    )
    of(page, "k").select_option("96")
    expect(of(page, "line")).to_contain_text("96 nearest")


def test_a_filter_on_what_is_known_of_items(visit, stub):
    page = search(visit, stub)
    of(page, "filter").click()
    of(page, "filter-field").fill("kind")
    of(page, "filter-value").fill("boats")
    of(page, "filter-add").click()
    expect(of(page, "filter")).to_have_text("Filter (1)")
    expect(of(page, "results").locator(".tile").first).to_have_attribute("aria-label", re.compile("^boats/"))
    of(page, "filter-remove").click()
    expect(of(page, "results").locator(".tile").first).not_to_have_attribute(
        "aria-label", re.compile("^boats/")
    )
    page.keyboard.press("Escape")


def test_the_panel_says_why(visit, stub):
    page = search(visit, stub)
    panel_of(page, 2)
    name = nearest(stub, 3, 3)[2][0]
    expect(of(page, "panel-name")).to_have_text(name)
    differ = stub.codes[stub.place[name]] != stub.codes[3]
    grids = of(page, "why").locator("svg")
    assert grids.nth(0).locator(".differs").count() == differ[:BITS].sum()
    assert grids.nth(1).locator(".differs").count() == differ[BITS:].sum()
    places = (
        grids.nth(1)
        .locator("rect")
        .evaluate_all(
            "cells => cells.flatMap((cell, at) => (cell.classList.contains('differs') ? [at] : []))"
        )
    )
    assert places == np.flatnonzero(differ[BITS:]).tolist()
    assert grids.nth(0).get_attribute("aria-label") == f"meaning: {differ[:BITS].sum()} of 64 bits differ"


def test_more_like_this_and_not_like_this(visit, stub):
    page = search(visit, stub)
    panel_of(page, 1)
    liked = of(page, "panel-name").text_content()
    of(page, "more-like").click()
    expect(of(page, "chip-like")).to_have_count(2)
    panel_of(page, 3)
    disliked = of(page, "panel-name").text_content()
    asked = []
    page.on(
        "request",
        lambda request: asked.append(request.post_data) if request.url.endswith("/search") else None,
    )
    of(page, "not-like").click()
    expect(of(page, "chip-unlike")).to_contain_text(disliked)
    body = json.loads(asked[-1])
    assert body["like"] == [stub.ids[3], liked] and body["unlike"] == [disliked]
    of(page, "chip-unlike").get_by_role("button").click()
    expect(of(page, "chip-unlike")).to_have_count(0)
    of(page, "clear").click()
    expect(of(page, "gallery")).to_be_visible()


def test_search_with_a_hit(visit, stub):
    page = search(visit, stub)
    panel_of(page, 2)
    name = of(page, "panel-name").text_content()
    of(page, "search-with").click()
    expect(of(page, "chip-like")).to_contain_text(name)
    expect_hits(page, nearest(stub, stub.place[name], 10))


def test_answers_to_hits_by_key(visit, stub):
    page = search(visit, stub)
    query, shown = stub.ids[3], nearest(stub, 3, 6)
    panel_of(page, 1)
    for key, index in [("y", 2), ("n", 3), ("y", 4)]:
        page.keyboard.press(key)
        expect(of(page, "panel-name")).to_have_text(shown[index][0])
    told = [(one["a"], one["b"], one["similar"]) for one in stub.events]
    assert told == [(query, shown[1][0], True), (query, shown[2][0], False), (query, shown[3][0], True)]
    expect(of(page, "results").locator(".tile.alike")).to_have_count(2)
    expect(of(page, "results").locator(".tile.apart")).to_have_count(1)
    page.keyboard.press("p")
    expect(of(page, "results").locator(".tile.alike")).to_have_count(1)
    assert len(stub.events) == 2


def test_no_answer_about_the_query_itself_or_a_mixture(visit, stub):
    page = search(visit, stub)
    panel_of(page, 0)
    expect(of(page, "panel")).to_contain_text("This is the query itself")
    page.keyboard.press("y")
    of(page, "more-like").click()
    panel_of(page, 1)
    of(page, "more-like").click()
    expect(of(page, "chip-like")).to_have_count(2)
    panel_of(page, 3)
    expect(of(page, "panel")).to_contain_text("Search with one to give it")
    expect(of(page, "yes")).to_have_count(0)
    assert stub.events == []


def test_keys_alone_search_look_and_come_back(visit, stub):
    page = visit(stub.url)
    of(page, "gallery").locator(".tile").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(of(page, "results").locator('[data-index="0"]')).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(of(page, "panel-name")).to_have_text(nearest(stub, 1, 2)[1][0])
    page.keyboard.press("ArrowRight")
    expect(of(page, "panel-name")).to_have_text(nearest(stub, 1, 3)[2][0])
    page.keyboard.press("Escape")
    expect(of(page, "panel")).to_have_count(0)
    expect(of(page, "results").locator('[data-index="2"]')).to_be_focused()
    page.keyboard.press("Escape")
    expect(of(page, "gallery").locator('[data-index="1"]')).to_be_focused()


def test_a_phone_shows_the_panel_over_everything(visit, stub):
    page = search(visit, stub, width=360, height=740)
    panel_of(page, 2)
    box = of(page, "panel").bounding_box()
    assert (box["x"], box["width"]) == (0, 360)
    expect(of(page, "panel-name")).to_be_focused()
    for _ in range(12):  # what is covered cannot be reached
        page.keyboard.press("Tab")
        assert not page.evaluate("Boolean(document.activeElement.closest('.pictures, .controls'))")
    of(page, "after").click()
    expect(of(page, "panel-name")).to_have_text(nearest(stub, 3, 4)[3][0])
    of(page, "close").click()
    expect(of(page, "results").locator('[data-index="3"]')).to_be_focused()
