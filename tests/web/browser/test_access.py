"""Everyone can use it: axe-core in every view, light, dark and on a phone; keys alone; nothing sticks out."""

import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import of, violations

LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"width": 360, "height": 740}}


def gallery(page, stub):
    expect(of(page, "gallery").locator("img").first).to_be_visible()


def results(page, stub):
    gallery(page, stub)
    of(page, "gallery").locator(".tile").nth(3).click()
    expect(of(page, "distance").first).to_be_visible()


def panel(page, stub):
    results(page, stub)
    of(page, "results").locator(".tile").nth(2).click()
    expect(of(page, "why")).to_be_visible()


def filters(page, stub):
    gallery(page, stub)
    if of(page, "options").count():
        of(page, "options").click()
    of(page, "filter").click()
    expect(of(page, "filter-add")).to_be_visible()


def duplicates(page, stub):
    page.get_by_role("link", name="Duplicates").click()
    expect(of(page, "duplicate-group").first).to_be_visible()
    of(page, "choose-all").click()


def teach(page, stub):
    for at in range(6):
        stub.answer({"kind": "place", "item": stub.ids[at], "group": None, "new": True})
    page.get_by_role("link", name="Teach").click()
    expect(of(page, "group-3")).to_be_visible()


def pairs(page, stub):
    teach(page, stub)
    of(page, "mode-pairs").check(force=True)
    expect(page.locator(".pair")).to_be_visible()


def my_groups(page, stub):
    stub.overruled = [f"{'holiday-' * 9}1.png is like 2.png, but 1.png - 3.png and 2.png are not alike"]
    teach(page, stub)
    of(page, "mode-mine").check(force=True)
    expect(of(page, "my-group").first).to_be_visible()
    of(page, "overruled").locator("summary").click()
    expect(of(page, "overruled").get_by_role("listitem")).to_be_visible()


def start(page, stub):
    teach(page, stub)
    page.get_by_role("link", name="Train").click()
    expect(of(page, "start")).to_be_enabled()


def running(page, stub):
    start(page, stub)
    of(page, "start").click()
    expect(of(page, "curves").locator("svg").first).to_be_visible()


def compared(page, stub):
    running(page, stub)
    expect(of(page, "compare")).to_be_visible()


def keys(page, stub):
    gallery(page, stub)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def problem(page, stub):
    gallery(page, stub)
    stub.broken["/api/search"] = (400, {"error": "k is at most 1,000", "code": "bad_request"})
    of(page, "gallery").locator(".tile").first.click()
    expect(of(page, "problem")).to_be_visible()


STATES = [
    gallery,
    results,
    panel,
    filters,
    duplicates,
    teach,
    pairs,
    my_groups,
    start,
    running,
    compared,
    keys,
    problem,
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("reach", STATES, ids=lambda reach: reach.__name__)
def test_axe_finds_nothing_and_nothing_sticks_out(visit, stub, reach, look):
    # A colour that is fading from one state into the next has the contrast of neither.
    page = visit(stub.url, faults=reach is problem, reduced_motion="reduce", **LOOKS[look])
    reach(page, stub)
    assert violations(page) == []
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    beyond = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, a')]
          .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.closest('.skip, .chips'))
          .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
          .filter(([, box]) => box.width > 1 && (box.left < 0 || box.right > innerWidth))
          .map(([text]) => text)"""
    )
    assert beyond == []


def test_tab_reaches_every_view_and_leaves_the_page(visit, stub):
    page = visit(stub.url)
    gallery(page, stub)
    for name in ("Search", "Duplicates", "Teach", "Train"):
        page.get_by_role("link", name=name).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".view:visible")).to_have_count(1)
        page.evaluate("document.activeElement.blur()")
        seen = []
        for _ in range(400):
            page.keyboard.press("Tab")
            here = page.evaluate(
                "document.activeElement === document.body ? '' : document.activeElement.outerHTML"
            )
            if not here and seen:
                break  # it left the page: no trap
            seen.append(here)
        else:
            pytest.fail(f"Tab never leaves {name}")
        assert any("Keys" in one for one in seen)


def test_the_link_to_the_pictures_is_the_first_stop(visit, stub):
    page = visit(stub.url)
    gallery(page, stub)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the pictures")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_focus_is_seen(visit, stub):
    page = visit(stub.url)
    gallery(page, stub)
    for _ in range(6):
        page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_controls_do_not_move_when_a_hit_is_looked_at(visit, stub):
    page = visit(stub.url)
    places = []
    for reach in (gallery, results):
        reach(page, stub)
        places.append(of(page, "pick").bounding_box())
    of(page, "results").locator(".tile").nth(2).click()
    expect(of(page, "why")).to_be_visible()
    places.append(of(page, "pick").bounding_box())
    assert places[0] == places[1] == places[2]
