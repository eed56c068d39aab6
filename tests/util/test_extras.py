import json
import sys
import tomllib
from pathlib import Path

import pytest

from pts3h import UserError
from pts3h.util.extras import EXTRA_OF, from_extra, is_installed, require

PROJECT = Path(__file__).parents[2]


def test_what_is_installed():
    assert is_installed("numpy") and not is_installed("nothing_of_this_name")


def test_what_is_missing_is_said_with_what_brings_it(monkeypatch):
    require("torch", "training")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match=r"^training needs torch: pip install 'pts3h\[train\]'$"):
        require("torch", "training")


def test_the_extras_bring_what_they_are_named_for():
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, extra in EXTRA_OF.items():
        assert any(line.startswith(f"{package}>=") for line in extras[extra])


def test_a_module_that_is_there():
    assert from_extra("json", "some", wants="a file") is json


def test_one_that_is_missing_is_a_line_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "heavy", None)
    for module in ("heavy", "heavy.part"):
        with pytest.raises(UserError, match=r"^a file needs heavy: pip install 'pts3h\[some\]'$"):
            from_extra(module, "some", wants="a file")
