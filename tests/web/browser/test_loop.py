"""The whole loop on the real server: search, teach by key, retrain, compare, use; and kills in between."""

import shutil

import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import of, violations
from tests.web.browser.real import (
    SECONDS,
    RealServer,
    answer_by_key,
    kill_now,
    kind_of,
    make_collection,
    train_to_the_end,
)

COUNT, QUESTIONS = 90, 40
LONG = SECONDS * 1000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTS3H_CACHE", str(folder / "cache"))
        make_collection(folder, COUNT)
    return folder


@pytest.fixture
def real(made, tmp_path, monkeypatch):
    """A server of its own for each test; the features are known."""
    monkeypatch.setenv("PTS3H_CACHE", str(made / "cache"))
    shutil.copytree(made / "photos.index", tmp_path / "photos.index")
    server = RealServer(tmp_path / "photos.index", made / "model")
    yield server
    server.stop()


def teach(page, count):
    page.get_by_role("link", name="Teach").click()
    expect(of(page, "question")).to_be_visible(timeout=LONG)
    assert answer_by_key(page, count) == count


def test_search_teach_retrain_compare_use(real, visit):
    page = visit(real.url)
    expect(of(page, "line")).to_have_text(f"{COUNT} pictures")
    tile = of(page, "gallery").locator(".tile").nth(5)
    query = tile.get_attribute("aria-label")
    tile.click()
    expect(of(page, "distance").first).to_have_text("0")
    of(page, "results").locator(f'.tile:not([aria-label^="{query}"])').first.click()
    expect(of(page, "why")).to_be_visible()
    page.keyboard.press("y")  # an answer to a hit counts too
    expect(of(page, "results").locator(".tile.alike")).to_have_count(1)

    teach(page, QUESTIONS)
    expect(of(page, "counts")).to_contain_text(f"{QUESTIONS + 1} answers · 3 groups")
    assert violations(page) == []

    train_to_the_end(page)
    expect(of(page, "compared")).to_have_count(8)
    figures = page.request.get(f"{real.url}api/jobs/1/compare").json()["figures"]
    words = f"{figures['after']['auc'] * 100:.1f} %" if figures else "Too few answers are kept back"
    expect(of(page, "compare")).to_contain_text(words)
    assert violations(page) == []
    of(page, "use").click()
    expect(of(page, "outcome")).to_have_text("The new model is in use.", timeout=LONG)
    expect(of(page, "curves").locator("svg").first).to_be_visible()

    page.get_by_role("link", name="Search").click()
    of(page, "clear").click()
    of(page, "gallery").locator(".tile").nth(5).click()
    expect(of(page, "distance").first).to_be_visible()
    names = of(page, "results").locator(".tile").evaluate_all("tiles => tiles.map((tile) => tile.ariaLabel)")
    assert {kind_of(name) for name in names[:10]} == {kind_of(query)}  # any network tells these kinds apart

    page.get_by_role("link", name="Train", exact=True).click()
    of(page, "go-back").click()
    page.wait_for_function("() => fetch('/api/status').then((a) => a.json()).then((s) => s.generation === 0)")


def test_a_job_that_is_killed_is_said_and_can_be_started_again(real, visit):
    page = visit(f"{real.url}#/teach")
    teach(page, 12)
    page.get_by_role("link", name="Train", exact=True).click()
    of(page, "start").click()
    kill_now(real.job())
    expect(of(page, "outcome")).to_contain_text("Training failed", timeout=LONG)
    expect(of(page, "outcome")).to_contain_text("Start it again")
    page.get_by_role("link", name="Search").click()
    of(page, "gallery").locator(".tile").first.click()
    expect(of(page, "distance").first).to_be_visible()
    train_to_the_end(page)
    of(page, "keep-old").click()
    expect(of(page, "outcome")).to_have_text("The old model was kept.")


def test_a_server_that_is_killed_loses_no_answer_and_the_page_goes_on(real, visit):
    page = visit(f"{real.url}#/teach", faults=True)
    teach(page, 12)
    page.get_by_role("link", name="Train", exact=True).click()
    of(page, "start").click()
    expect(of(page, "cancel")).to_be_visible()
    real.kill()
    expect(of(page, "offline")).to_be_visible()
    real.start()
    expect(of(page, "offline")).to_have_count(0, timeout=LONG)
    page.get_by_role("link", name="Teach").click()
    expect(of(page, "counts")).to_contain_text("12 answers · 3 groups")
    answer_by_key(page, 2)
    expect(of(page, "counts")).to_contain_text("14 answers")
    page.get_by_role("link", name="Train", exact=True).click()
    # the job went on without its server, or ended with it: either way the page says so, and one can go on
    over = of(page, "outcome").or_(of(page, "compare"))
    expect(over).to_be_visible(timeout=LONG)
