"""Train: start, live curves, cancel, before and after, use it or not."""

from playwright.sync_api import expect

from tests.web.browser.conftest import of


def open_view(visit, stub, **how):
    for at in range(6):
        stub.answer(
            {"kind": "place", "item": stub.ids[at], "group": None, "new": at < 2}
            | ({} if at < 2 else {"group": 1})
        )
    page = visit(f"{stub.url}#/train", **how)
    expect(of(page, "start")).to_be_enabled()
    return page


def test_start_watch_compare_use_and_back(visit, stub):
    page = open_view(visit, stub)
    expect(page.get_by_text("If A is like B and B is like C, then A is like C")).to_be_visible()
    of(page, "start").click()
    expect(of(page, "doing")).to_contain_text("Training on 6 answers, step")
    expect(of(page, "curves").locator("svg")).to_have_count(3)
    expect(of(page, "job")).to_contain_text("Training")
    expect(of(page, "compared")).to_have_count(8)
    expect(of(page, "figures")).to_contain_text("81.2 %")
    expect(of(page, "figures")).to_contain_text("90.3 %")
    expect(of(page, "figures")).to_contain_text("+9.1 %")
    expect(of(page, "job")).to_have_text("New model ready")
    of(page, "use").click()
    expect(of(page, "outcome")).to_have_text("The new model is in use.")
    assert stub.generation == 1
    of(page, "go-back").click()
    expect(of(page, "go-back")).to_have_count(0)
    assert stub.generation == 0


def test_keep_the_old(visit, stub):
    page = open_view(visit, stub)
    of(page, "start").click()
    of(page, "keep-old").click()
    expect(of(page, "outcome")).to_have_text("The old model was kept.")
    assert stub.generation == 0


def test_cancel(visit, stub):
    page = open_view(visit, stub)
    of(page, "start").click()
    of(page, "cancel").click()
    expect(of(page, "outcome")).to_contain_text("cancelled")
    expect(of(page, "start")).to_be_enabled()


def test_a_reloaded_page_goes_on_watching_with_the_whole_curve(visit, stub):
    page = open_view(visit, stub)
    of(page, "start").click()
    expect(of(page, "curves").locator("svg").first).to_be_visible()
    page.reload()
    expect(of(page, "compare")).to_be_visible()
    of(page, "use").click()
    expect(of(page, "curves").locator("svg").first).to_be_visible()


def test_a_failure_says_what_to_do(visit, stub):
    page = open_view(visit, stub)
    of(page, "start").click()
    expect(of(page, "cancel")).to_be_visible()
    stub.job.update(state="failed", error="the disk is full")
    expect(of(page, "outcome")).to_have_text("Training failed: the disk is full. Start it again.")


def test_a_busy_server_is_said_in_one_line(visit, stub):
    page = open_view(visit, stub, faults=True)
    stub.broken["/api/jobs"] = (409, {"error": "job 1 is running: wait for it, or cancel it", "code": "busy"})
    of(page, "start").click()
    expect(of(page, "problem")).to_contain_text("job 1 is running: wait for it, or cancel it")
