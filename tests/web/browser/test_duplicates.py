"""Duplicates: a radius, a rule, a choice in bulk, and a list. No file is touched."""

import csv
from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser.conftest import of


def open_view(visit, stub, **how):
    page = visit(f"{stub.url}#/duplicates", **how)
    expect(of(page, "duplicate-group").first).to_be_visible()
    return page


def downloaded(page, name):
    with page.expect_download() as waiting:
        of(page, name).click()
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_the_radius_decides_what_counts(visit, stub):
    page = open_view(visit, stub)
    expect(of(page, "duplicates-line")).to_have_text("36 groups of copies, 0 chosen")
    of(page, "duplicates-radius").fill("0")
    expect(of(page, "duplicates-line")).to_have_text("12 groups of copies, 0 chosen")
    expect(of(page, "duplicate-group")).to_have_count(12)
    of(page, "duplicates-radius").fill("16")
    expect(of(page, "duplicates-line")).to_have_text("No copies within this distance.")


def test_the_list_holds_what_was_chosen_also_what_was_not_scrolled_to(visit, stub):
    page = open_view(visit, stub)
    expect(page.get_by_text("No file is deleted")).to_be_visible()
    expect(of(page, "write-csv")).to_be_disabled()
    of(page, "choose-all").click()
    of(page, "choose-group").nth(1).uncheck()
    second = of(page, "duplicate-group").nth(0).locator('[data-test="keep"]').nth(1)
    second.check()
    rows = list(csv.DictReader(downloaded(page, "write-csv").splitlines()))
    found = stub.duplicates({"radius": 2, "offset": 0, "limit": 100, "keep": "largest"})["groups"]
    assert len(found) == 36 > of(page, "duplicate-group").count()
    expected = []
    for number, group in enumerate(found, start=1):
        kept = {group["keep"]} | ({group["items"][1]["id"]} if number == 1 else set())
        names = [item["id"] for item in group["items"]]
        order = [name for name in names if name in kept] + [name for name in names if name not in kept]
        if number != 2:
            expected += [(str(number), "keep" if name in kept else "drop", name) for name in order]
    assert [(row["group"], row["action"], row["id"]) for row in rows] == expected
    names = downloaded(page, "write-names").splitlines()
    assert names == [row["id"] for row in rows if row["action"] == "drop"]
    expect(of(page, "remark")).to_contain_text("No file was touched")


def test_another_rule_keeps_others(visit, stub):
    page = open_view(visit, stub)
    group = of(page, "duplicate-group").first
    expect(group.locator(".copy").first).to_have_class("copy kept")
    of(page, "rule").select_option("oldest")
    expect(group.locator(".copy").last).to_have_class("copy kept")
    expect(group.locator(".copy").first).to_have_class("copy dropped")


def test_more_groups_and_full_names(visit, stub):
    page = open_view(visit, stub)
    expect(of(page, "duplicate-group")).to_have_count(30)
    of(page, "duplicates-more").click()
    expect(of(page, "duplicate-group")).to_have_count(36)
    expect(of(page, "duplicates-more")).to_have_count(0)
    copy = of(page, "copy").first
    expect(copy.locator(".full-name")).to_have_text(stub.ids[0])
    expect(copy).to_contain_text("4000 \u00d7 3000 · 3.2 MB · Jan 14, 2026")
