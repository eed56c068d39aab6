"""A real Chromium, and pages in it that may not complain."""

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect, sync_playwright
from tools.browser import MISSING, chromium

from tests.web.browser.stub import Stub
from tests.web.browser.stub_server import serve

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
]
PATIENCE = 60_000  # milliseconds: other tests run beside these
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
expect.set_options(timeout=PATIENCE)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def pytest_collection_modifyitems(items):
    """One browser at a time: its event loop bears no other in the same process."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests of the page."""
    path = chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=path, args=ARGUMENTS, headless=True, timeout=PATIENCE
        )
        yield launched
        launched.close()


@pytest.fixture
def serving():
    """Serves made-up collections: ``serving(Stub(300))`` has its ``url`` then. They outlive the pages."""
    servers = []

    def begin(stub):
        servers.append(serve(stub))
        stub.url = f"http://127.0.0.1:{servers[-1].server_port}/"
        return stub

    yield begin
    for server in servers:
        server.stop()


@pytest.fixture
def visit(browser, serving):
    """Opens pages: ``visit(url, width=360, dark=True)``. Errors in them fail the test, if not announced."""
    contexts, complaints = [], []

    def open_page(url, *, width=1280, height=800, dark=False, faults=False, **more):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **more
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: note(said, faults))
        page.goto(url)
        return page

    def note(said, faults):
        if said.type == "error" and not (faults and said.text.startswith("Failed to load resource")):
            complaints.append(said.text)

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def stub(serving):
    """A made-up collection of 2,000 pictures, served."""
    return serving(Stub(2_000))


def violations(page):
    """What axe-core finds wrong, in a line each."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def of(page, name):
    """The element of a page that tests know by this name."""
    return page.locator(f'[data-test="{name}"]:visible')
