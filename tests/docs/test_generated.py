"""Pages made from the code say what the code says."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields

import pytest
from tools import generate_docs
from tools.generate_docs import api_page, section, settings_page
from tools.setting_docs import hasher_signature

import pts3h
from pts3h.cli.app import load_command
from pts3h.losses.table import LOSSES
from pts3h.nets.backbones.table import BACKBONES
from pts3h.settings import documented
from pts3h.settings.asked import Settings
from pts3h.settings.documented import GROUPS
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


def rows_below(heading):
    """The rows of the table under a heading of docs/settings.md, without markup."""
    part = settings_page().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
    cells = [re.split(r" (?<!\\)\| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]
    return [[cell.replace("`", "").replace("\\|", "|") for cell in row] for row in cells]


def test_every_setting_with_its_flag():
    rows = [row for group in ("General", *GROUPS) for row in rows_below(group)]
    assert sorted(row[0] for row in rows) == sorted(field.name for field in fields(Settings))
    options = {option.name: option for option in load_command("fit").params}
    for name, _, text, flags in rows:
        assert text and text.endswith("."), name
        if name == "freeze":
            assert flags == "--fine-tune"
        else:
            assert flags.split(", ") == [*options[name].opts, *options[name].secondary_opts]
    assert ["bits", "int", "Number of learned bits.", "--bits, -b"] in rows


def test_settings_are_in_the_groups_of_the_help():
    assert [row[0] for row in rows_below("Vectors")] == ["noise", "drop"]
    assert [row[0] for row in rows_below("General")] == [
        *("bits", "look_bits", "loss", "seed", "device", "precision", "compile")
    ]


def test_a_setting_without_a_meaning_is_not_passed_over(monkeypatch):
    source = 'class Settings:\n    bits: int = 64\n    """Code length."""\n    x: int = 1\n    y: int = 2\n'
    monkeypatch.setattr(documented.inspect, "getsource", lambda _: source)
    with pytest.raises(TypeError, match="the setting x needs a default and a docstring"):
        documented.documented_settings()


def test_defaults_of_losses_and_backbones():
    rows = rows_below("What each loss brings along")
    assert [row[0] for row in rows] == LOSSES.names()
    for name, omega, gamma, eta, rate, beside, alone in rows:
        loss = LOSSES.find(name)
        assert (float(omega), float(gamma), float(eta)) == (loss.omega, loss.gamma, loss.eta)
        assert (int(beside), int(alone)) == (loss.labelled_per_batch, loss.labelled_alone)
        assert float(rate.split(",")[0]) == loss.rate(64) and ("below" in rate) == (
            loss.rate(12) < loss.rate(64)
        )
    rows = rows_below("What each backbone brings along")
    assert [row[0] for row in rows] == BACKBONES.names()
    for name, text, pretrained, smallest, hidden in rows:
        row = BACKBONES.find(name)
        assert text == row.help and int(smallest) == row.smallest
        assert (pretrained == "yes") == (row.pretrained is not None)
        assert hidden == (str(row.hidden) if row.hidden else "none")


def test_the_signature_of_hasher_names_every_setting_with_its_default():
    parameters = inspect.signature(pts3h.Hasher).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        f.name: f.default for f in fields(Settings)
    }
    assert generate_docs.HASHER in generate_docs.PAGES


def test_a_signature_out_of_date_is_mended():
    source = (PROJECT / generate_docs.HASHER).read_text()
    old = source.replace("        omega: float | None = None,\n", "").replace("Code length.", "Length.", 1)
    assert old != source and hasher_signature(old) == source
