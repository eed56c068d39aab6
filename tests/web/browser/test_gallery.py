"""The gallery: as many pictures as there are, a screenful in the document, by hand and by key."""

import re

import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import of
from tests.web.browser.stub import Stub

MOST_TILES = 150  # in the document, however many there are


@pytest.fixture
def many(serving):
    return serving(Stub(10_000))


@pytest.fixture
def too_many(serving):
    """More than one element can be high on a phone."""
    return serving(Stub(200_000))


def tiles(page):
    return of(page, "gallery").locator('[data-test="tile"]')


def scroll(page, fraction):
    """Scrolls there, and waits until what is there was drawn and has arrived."""
    expect(tiles(page).first).to_be_visible()
    page.evaluate(
        """async fraction => {
          const scroller = document.querySelector('[data-test="gallery"]');
          scroller.scrollTop = fraction * (scroller.scrollHeight - scroller.clientHeight);
          for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
        }""",
        fraction,
    )
    expect(page.locator(".waiting")).to_have_count(0)


def first_in_view(page):
    return page.evaluate(
        """() => {
          const top = document.querySelector('[data-test="gallery"]').getBoundingClientRect().top;
          const tiles = [...document.querySelectorAll('[data-test="gallery"] .tile')];
          const seen = tiles.filter((tile) => tile.getBoundingClientRect().bottom > top + 20);
          return Math.min(...seen.map((tile) => Number(tile.dataset.index)));
        }"""
    )


def test_ten_thousand_tiles_are_scrolled_with_a_bounded_document(visit, many):
    page = visit(many.url)
    expect(of(page, "line")).to_have_text("10,000 pictures")
    for step in range(21):
        scroll(page, step / 20)
        assert tiles(page).count() <= MOST_TILES
        at = first_in_view(page)
        expect(page.locator(f'.tile[data-index="{at}"]')).to_have_attribute("aria-label", many.ids[at])
    expect(page.locator('.tile[data-index="9999"]')).to_have_attribute("aria-label", many.ids[-1])
    assert page.evaluate("document.querySelectorAll('*').length") < 10 * MOST_TILES


def test_keys_walk_through_all_tiles(visit, many):
    page = visit(many.url)
    tiles(page).first.focus()
    columns = int(of(page, "grid").get_attribute("aria-colcount"))
    for key, index in [
        ("ArrowRight", 1),
        ("ArrowDown", 1 + columns),
        ("ArrowLeft", columns),
        ("ArrowUp", 0),
        ("End", columns - 1),
        ("Home", 0),
        ("Control+End", 9_999),
        ("Control+Home", 0),
    ]:
        page.keyboard.press(key)
        expect(page.locator(f'.tile[data-index="{index}"]')).to_be_focused()
        expect(page.locator(f'.tile[data-index="{index}"]')).to_be_in_viewport()
    page.keyboard.press("PageDown")
    assert int(page.evaluate("document.activeElement.dataset.index")) % columns == 0
    page.keyboard.press("Control+End")
    assert tiles(page).count() <= MOST_TILES


def test_more_than_one_element_can_be_high(visit, too_many):
    page = visit(too_many.url, width=360, height=740)
    tiles(page).first.focus()
    page.keyboard.press("Control+End")
    expect(page.locator('.tile[data-index="199999"]')).to_be_focused()
    expect(page.locator('.tile[data-index="199999"]')).to_be_in_viewport()
    for _ in range(3):
        page.keyboard.press("PageUp")
    expect(page.locator(".tile:focus")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('.grid').offsetHeight") <= 8_000_000
    scroll(page, 0.5)
    assert abs(first_in_view(page) - 100_000) < 1_000
    before = first_in_view(page)
    of(page, "gallery").hover()
    page.mouse.wheel(0, 300)  # a small movement goes as far as it looks
    page.wait_for_function(
        "before => Number(document.querySelector('.tiles:nth-child(5) .tile').dataset.index) !== before",
        arg=before,
    )
    assert 0 < first_in_view(page) - before < 30


def test_the_place_is_kept(visit, many):
    page = visit(many.url)
    scroll(page, 0.5)
    place = first_in_view(page)
    page.get_by_role("link", name="Duplicates").click()
    expect(of(page, "duplicate-group").first).to_be_visible()
    page.get_by_role("link", name="Search").click()
    assert first_in_view(page) == place
    page.locator(f'.tile[data-index="{place}"]').click()
    expect(of(page, "distance").first).to_be_visible()
    page.go_back()
    expect(of(page, "gallery")).to_be_visible()
    assert first_in_view(page) == place
    page.reload()
    expect(page.locator(f'.tile[data-index="{place}"]')).to_be_in_viewport()
    page.set_viewport_size({"width": 800, "height": 700})
    expect(page.locator(f'.tile[data-index="{place}"]')).to_be_in_viewport()


def test_names_are_found(visit, stub):
    page = visit(stub.url)
    expect(tiles(page).first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("cats/")
    cats = sum(one.startswith("cats/") for one in stub.ids)
    expect(of(page, "line")).to_have_text(f"{cats} pictures")
    expect(tiles(page).first).to_have_attribute("aria-label", re.compile("^cats/"))
    page.keyboard.type("nowhere")
    expect(of(page, "empty")).to_contain_text("cats/nowhere")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    expect(of(page, "line")).to_have_text("2,000 pictures")


def test_a_name_is_text_whatever_it_holds(visit, serving):
    stub = Stub(40)
    odd = [
        "<img src=x onerror=alert(1)>.jpg",
        '"><script>alert(2)</script>.jpg',
        "a&b/ü 猫.jpg",
        "x" * 300 + ".jpg",
    ]
    for at, name in enumerate(odd):
        stub.ids[at] = name
    stub.place = {one: at for at, one in enumerate(stub.ids)}
    page = visit(serving(stub).url)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    for at, name in enumerate(odd):
        expect(page.locator(f'.tile[data-index="{at}"]')).to_have_attribute("aria-label", name)
    tiles(page).nth(0).click()
    expect(of(page, "chip-like")).to_contain_text(odd[0])
    of(page, "results").locator(".tile").first.click()
    expect(of(page, "panel-name")).to_have_text(odd[0])


def test_a_name_that_is_typed_late_does_not_end_a_search(visit, stub):
    """Letters count after a pause; whoever clicks a picture before that stays with what it finds."""
    page = visit(stub.url)
    expect(tiles(page).first).to_be_visible()
    of(page, "find").press_sequentially("boats")
    page.evaluate("""() => document.querySelector('[data-test="gallery"] .tile').click()""")
    expect(of(page, "distance").first).to_have_text("0")
    page.wait_for_timeout(600)  # longer than the pause
    expect(of(page, "results")).to_be_visible()
    expect(of(page, "chip-like")).to_have_count(1)
