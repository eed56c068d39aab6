"""Pages made from the code say what the code says."""

import inspect
import subprocess
import sys
from dataclasses import fields

import pytest
from tools import generate_docs
from tools.generate_docs import SETTINGS_CLASS, api_page, section, settings_page

import pts3h
import pts3h.settings
from tests.docs.blocks import PROJECT


def test_no_page_is_out_of_date():
    command = [sys.executable, "tools/generate_docs.py", "--check"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_page_out_of_date_is_named_and_written_anew(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text("old\n")
    monkeypatch.setattr(generate_docs, "PROJECT", tmp_path)
    monkeypatch.setattr(generate_docs, "PAGES", {"page.md": lambda: "new\n"})
    monkeypatch.setattr(sys, "argv", ["generate_docs.py", "--check"])
    with pytest.raises(SystemExit, match=r"page\.md is out of date: run make generate"):
        generate_docs.main()
    assert (tmp_path / "page.md").read_text() == "old\n"
    monkeypatch.setattr(sys, "argv", ["generate_docs.py"])
    generate_docs.main()
    assert (tmp_path / "page.md").read_text() == "new\n"


def test_every_parameter_is_on_the_page():
    page = api_page()
    for name in pts3h.__all__:
        thing = getattr(pts3h, name)
        part = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        if inspect.isfunction(thing):
            assert all(parameter in part for parameter in inspect.signature(thing).parameters)
        else:
            public = [method for method in vars(thing) if not method.startswith("_")]
            assert all(
                f"{method}`" in part or f".{method}\n" in part for method in public if method != "exit_code"
            )


def test_entries_of_a_section():
    body = "a: one\n    and more: of it\nb: ``two``, see :func:`c`\n"
    assert section(body, named=True) == "- `a`: one and more: of it\n- `b`: `two`, see `c`"


def test_every_setting_with_its_default():
    rows = [line.split(" | ") for line in settings_page().splitlines() if line.startswith("| ")][1:]
    shown = {row[0].removeprefix("| "): row[2].strip("`") for row in rows}
    held = {field.name: field.default for field in fields(getattr(pts3h.settings, SETTINGS_CLASS))}
    assert shown == {name: repr(default) for name, default in held.items()}
    assert {row[0].removeprefix("| "): row[3] for row in rows}["bits"] == "Code length. |"
