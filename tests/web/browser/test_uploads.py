"""A picture from outside: picked, dropped, pasted; refused where it cannot be taken."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.web.browser.conftest import of

GIVE = """({kind, content, name, type}) => {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, { type }));
  if (kind === "paste") {
    const data = { clipboardData: transfer, bubbles: true, cancelable: true };
    window.dispatchEvent(new ClipboardEvent("paste", data));
    return;
  }
  for (const step of ["dragenter", "dragover", "drop"]) {
    const data = { dataTransfer: transfer, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent(step, data));
  }
}"""


def photo(seed=0):
    out = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (40, 60, 3), np.uint8)
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def give(page, kind, content, name="mine.png", type="image/png"):
    page.evaluate(
        GIVE, {"kind": kind, "content": base64.b64encode(content).decode(), "name": name, "type": type}
    )


@pytest.mark.parametrize("view", ["", "#/teach"])
@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_dropped_or_pasted_anywhere(visit, stub, kind, view):
    page = visit(stub.url + view)
    expect(page.locator(".view:visible")).to_be_visible()
    if view:  # the first view is made on the first visit
        page.get_by_role("link", name="Search").click()
        expect(of(page, "grid")).to_be_visible()
        page.get_by_role("link", name="Teach").click()
    give(page, kind, photo())
    expect(of(page, "chip-upload")).to_contain_text("Your picture")
    assert (
        of(page, "chip-upload")
        .locator("img")
        .evaluate("image => image.decode().then(() => image.naturalWidth)")
        == 60
    )
    expect(of(page, "distance")).not_to_have_count(0)
    expect(page.locator(".veil")).to_be_hidden()


def test_picked(visit, stub, tmp_path):
    (tmp_path / "mine.png").write_bytes(photo())
    page = visit(stub.url)
    with page.expect_file_chooser() as choosing:
        of(page, "pick").click()
    choosing.value.set_files(tmp_path / "mine.png")
    expect(of(page, "chip-upload")).to_be_visible()
    of(page, "more").click()
    expect(of(page, "line")).to_contain_text("48 nearest")
    page.reload()  # the code is in the address, the picture is not
    expect(of(page, "chip-upload")).to_contain_text("A picture of yours")
    expect(of(page, "distance")).not_to_have_count(0)


def test_no_answer_can_be_given_about_it(visit, stub):
    page = visit(stub.url)
    expect(of(page, "grid")).to_be_visible()
    give(page, "drop", photo())
    of(page, "results").locator(".tile").first.click()
    expect(of(page, "panel")).to_contain_text("not in the collection")
    expect(of(page, "yes")).to_have_count(0)


def test_one_that_is_too_large_is_not_sent(visit, stub):
    stub_status = stub.status
    stub.status = lambda: {**stub_status(), "limits": {**stub_status()["limits"], "upload_bytes": 1000}}
    page = visit(stub.url)
    expect(of(page, "grid")).to_be_visible()
    give(page, "drop", photo())
    expect(of(page, "problem")).to_contain_text("the server takes up to 1.0 kB")


def test_what_the_server_refuses_is_said_in_one_line(visit, stub):
    page = visit(stub.url, faults=True)
    expect(of(page, "grid")).to_be_visible()
    stub.broken["/api/search/picture"] = (
        415,
        {"error": "this is no picture: send JPEG or PNG", "code": "unsupported"},
    )
    give(page, "drop", b"hello", "notes.txt", "text/plain")
    expect(of(page, "problem")).to_contain_text("this is no picture: send JPEG or PNG")
    expect(of(page, "gallery")).to_be_visible()
    of(page, "problem").get_by_role("button", name="Close").click()
    expect(of(page, "problem")).to_have_count(0)
