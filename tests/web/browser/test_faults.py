"""What goes wrong: a token is asked for once, a server that is gone is said and waited for."""

import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import of
from tests.web.browser.stub import Stub
from tests.web.browser.stub_server import serve


@pytest.fixture
def guarded(serving):
    return serving(Stub(300, token="open sesame"))


def test_the_token_is_asked_for_once(visit, guarded):
    page = visit(guarded.url, faults=True)
    expect(page.get_by_role("dialog")).to_contain_text("asks for a token")
    of(page, "token").fill("wrong")
    of(page, "token-go").click()
    expect(page.get_by_role("dialog")).to_contain_text("did not accept that token")
    of(page, "token").fill("open sesame")
    of(page, "token-go").click()
    expect(of(page, "line")).to_have_text("300 pictures")
    page.wait_for_function("() => document.querySelector('.tile img')?.naturalWidth > 0")
    page.reload()
    expect(of(page, "line")).to_have_text("300 pictures")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("Object.keys(localStorage).length") == 0  # it goes with the tab


def test_a_token_that_is_not_given_is_not_asked_for_again_and_again(visit, guarded):
    page = visit(guarded.url, faults=True)
    page.get_by_role("button", name="Not now").click()
    expect(of(page, "problem")).to_contain_text("asks for a token")
    expect(page.get_by_role("dialog")).to_have_count(0)
    of(page, "problem").get_by_role("button", name="Enter the token").click()
    of(page, "token").fill("open sesame")
    of(page, "token-go").click()
    expect(of(page, "line")).to_have_text("300 pictures")


def test_a_server_that_is_gone_is_said_and_waited_for(visit):
    stub = Stub(300)
    server = serve(stub)
    port = server.server_port
    page = visit(f"http://127.0.0.1:{port}/#/teach", faults=True)
    expect(of(page, "question")).to_be_visible()
    server.stop()
    asked = of(page, "question").get_attribute("data-item")
    page.keyboard.press("0")
    expect(of(page, "offline")).to_contain_text("The server does not answer")
    assert of(page, "question").get_attribute("data-item") == asked  # nothing was acknowledged
    server = serve(stub, port)
    expect(of(page, "offline")).to_have_count(0)
    page.keyboard.press("0")
    page.wait_for_function(
        "asked => document.querySelector('[data-test=question]').dataset.item !== asked", arg=asked
    )
    assert [one["item"] for one in stub.events] == [asked]
    server.stop()


def test_an_error_of_the_server_shows_no_more_than_its_line(visit, stub):
    page = visit(stub.url, faults=True)
    expect(of(page, "grid")).to_be_visible()
    stub.broken["/api/search"] = (500, {})
    of(page, "gallery").locator(".tile").first.click()
    expect(of(page, "problem")).to_contain_text("The server answered 500. Try again")
