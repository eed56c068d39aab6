"""Teach: keys answer, what was answered sticks and can be taken back, groups can be changed."""

import time

from playwright.sync_api import expect

from tests.web.browser.conftest import of


def open_view(visit, stub, mode="groups", **how):
    page = visit(f"{stub.url}#/teach", **how)
    expect(of(page, "question")).to_be_visible()
    if mode != "groups":
        of(page, f"mode-{mode}").check(force=True)
        expect(of(page, "question" if mode == "pairs" else "my-groups")).to_be_visible()
    return page


def asked(page):
    return of(page, "question").get_attribute("data-item")


def press(page, key):
    """Presses a key and waits for the next question."""
    before = asked(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('[data-test=question]')?.dataset.item !== before", arg=before
    )
    return before


def test_keys_place_and_advance(visit, stub):
    page = open_view(visit, stub)
    first = press(page, "0")
    expect(of(page, "group-1")).to_be_visible()
    second, third, fourth = press(page, "1"), press(page, "0"), press(page, "u")
    fifth = press(page, "2")
    assert [(one["item"], one["group"]) for one in stub.events] == [
        (first, 1),
        (second, 1),
        (third, 2),
        (fourth, None),
        (fifth, 2),
    ]
    expect(of(page, "counts")).to_have_text("5 answers · 2 groups · 1 unsure")
    page.keyboard.press("9")  # no such group: nothing happens
    page.keyboard.press("y")
    assert len(stub.events) == 5


def test_back_takes_the_last_answer_back_and_asks_it_again(visit, stub):
    page = open_view(visit, stub)
    first, second = press(page, "0"), press(page, "0")
    press(page, "p")
    assert asked(page) == second
    assert [one["item"] for one in stub.events] == [first]
    press(page, "1")
    assert stub.events[-1]["item"] == second and stub.events[-1]["group"] == 1
    page.reload()
    expect(of(page, "question")).to_be_visible()
    page.keyboard.press("p")  # also what an earlier visit answered
    expect(of(page, "remark")).to_contain_text(second)
    assert [one["item"] for one in stub.events] == [first]


def test_a_key_before_the_next_question_is_shown_answers_nothing(visit, stub):
    page = open_view(visit, stub)
    real = stub.answer

    def slow(said):
        time.sleep(0.5)
        return real(said)

    stub.answer = slow
    before = asked(page)
    for key in "0000":
        page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('[data-test=question]').dataset.item !== before", arg=before
    )
    assert [one["item"] for one in stub.events] == [before]


def test_pairs_by_key(visit, stub):
    page = open_view(visit, stub, "pairs")
    for key in "ynu":
        pair = of(page, "question").get_attribute("data-a")
        page.keyboard.press(key)
        page.wait_for_function(
            "a => document.querySelector('[data-test=question]').dataset.a !== a", arg=pair
        )
    assert [one["similar"] for one in stub.events] == [True, False, None]
    page.keyboard.press("z")
    scales = page.locator(".zoom img").evaluate_all("images => images.map((image) => image.style.transform)")
    assert scales == ["scale(2.5)", "scale(2.5)"]
    page.locator(".zoom").first.click()
    assert page.locator(".zoom.on").count() == 0


def test_groups_are_named_merged_split(visit, stub):
    page = open_view(visit, stub)
    for key in "0010":
        press(page, key)
    page.locator(".card").first.get_by_role("button", name="Name Group 1").click()
    of(page, "group-name").fill("Boats")
    page.keyboard.press("Enter")
    expect(page.locator(".card").first).to_contain_text("Boats")
    assert stub.names == {1: "Boats"}
    of(page, "mode-mine").check(force=True)
    expect(of(page, "my-group")).to_have_count(3)
    of(page, "my-group").nth(1).locator("select").select_option(label="Boats")
    expect(of(page, "my-group")).to_have_count(2)
    assert sorted(map(len, stub.groups.values())) == [1, 3]
    boats = page.locator('[data-test="my-group"][data-group="1"]')
    expect(boats.locator('[data-test="split"]')).to_be_disabled()
    boats.locator('[data-test="member"]').nth(1).check()
    boats.locator('[data-test="split"]').click()
    expect(of(page, "my-group")).to_have_count(3)
    assert sorted(map(len, stub.groups.values())) == [1, 1, 2]


def test_answers_that_contradict_newer_ones_are_told(visit, stub):
    page = open_view(visit, stub)
    press(page, "0")
    of(page, "mode-mine").check(force=True)
    expect(of(page, "my-group")).to_have_count(1)
    expect(of(page, "overruled")).to_have_count(0)
    stub.overruled = ["<b>a.png</b> is like b.png, but a.png and c.png - b.png are not alike"]
    of(page, "mode-groups").check(force=True)
    of(page, "mode-mine").check(force=True)
    of(page, "overruled").get_by_text("1 answer contradicts newer ones").click()
    expect(of(page, "overruled").get_by_role("listitem")).to_have_text(stub.overruled)


def test_a_tenth_group_is_in_a_list(visit, stub):
    """There are nine keys; g leads to the others, and the keys are answers again afterwards."""
    page = open_view(visit, stub)
    for _ in range(9):
        press(page, "0")
    expect(of(page, "other-group")).to_have_count(0)
    press(page, "0")
    expect(of(page, "other-group").locator("option")).to_have_text(["one of 1 other…", "Group 10"])
    before = asked(page)
    page.keyboard.press("g")
    expect(of(page, "other-group")).to_be_focused()
    of(page, "other-group").select_option(label="Group 10")
    page.wait_for_function(
        "before => document.querySelector('[data-test=question]').dataset.item !== before", arg=before
    )
    after = press(page, "3")
    assert [(one["item"], one["group"]) for one in stub.events[10:]] == [(before, 10), (after, 3)]


def test_answers_are_signed(visit, stub):
    page = open_view(visit, stub, "mine")
    of(page, "who").fill("Ada")
    of(page, "who").blur()
    page.reload()  # the browser remembers it
    expect(of(page, "question")).to_be_visible()
    press(page, "0")
    assert stub.events[-1]["who"] == "Ada"


def test_it_says_when_enough_was_answered(visit, stub):
    real = stub.question
    enough = {"text": "More answers no longer help: train now.", "figure": 0.9, "stop": True}
    stub.question = lambda mode, skip: real(mode, skip) | {"helping": enough}
    page = open_view(visit, stub)
    expect(of(page, "helping")).to_have_text(enough["text"])
    expect(of(page, "helping")).to_have_class("helping enough")
    stub.question = lambda mode, skip: {"done": True, "why": "Everything was asked. Train now."}
    page.keyboard.press("0")
    expect(of(page, "done")).to_have_text("Everything was asked. Train now.")


def test_what_is_asked_is_said_aloud(visit, stub):
    page = open_view(visit, stub)
    assert asked(page) in page.locator("[data-test=spoken]").text_content()
    press(page, "0")
    expect(page.locator("[data-test=spoken]")).to_contain_text(asked(page))
    assert page.locator("[data-test=spoken]").get_attribute("aria-live") == "polite"


def test_a_server_that_only_searches_says_so(visit, stub):
    real = stub.status
    stub.status = lambda: real() | {"teach": False, "counts": None, "writes": "closed"}
    page = visit(f"{stub.url}#/teach")
    expect(page.locator(".teach")).to_contain_text("This server only searches")
    page.keyboard.press("0")
    page.get_by_role("link", name="Train").click()
    expect(page.locator(".train")).to_contain_text("This server only searches")
    assert stub.events == []
