"""The files of the page: they parse, they load nothing from elsewhere, they never read data as HTML."""

import re
import subprocess
from pathlib import Path

import playwright
import pytest

from tests.web.browser.stub_server import STATIC

NODE = Path(playwright.__file__).parent / "driver" / "node"
SCRIPTS = sorted((STATIC / "js").rglob("*.js"))
FORBIDDEN = (
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org)"
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_parses_and_is_careful(script):
    checked = subprocess.run(
        [NODE, "--check", "--input-type=module"], input=script.read_bytes(), capture_output=True
    )
    assert checked.returncode == 0, checked.stderr.decode()
    text = script.read_text(encoding="utf-8")
    assert re.findall(FORBIDDEN, text) == []
    assert text.startswith("/**"), "a file begins with what it is"


def test_every_import_leads_to_a_file_and_every_file_is_used():
    used = {STATIC / "js" / "main.js"}
    for script in SCRIPTS:
        for name in re.findall(r'from "(.+?)"', script.read_text(encoding="utf-8")):
            assert name.startswith(".") and (script.parent / name).is_file(), (script, name)
            used.add((script.parent / name).resolve())
    assert used == set(SCRIPTS)


def test_markup_loads_only_its_own_files():
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<(?:style|script>)|style=|\son\w+=", text) == []  # the policy would refuse it
    for name in re.findall(r'(?:src|href)="(/[^"]+)"', text):
        assert (STATIC / name.removeprefix("/static/")).is_file()
    assert "url(" not in (STATIC / "style.css").read_text(encoding="utf-8")
