"""Names of files that mean something to a terminal, a library or an encoding."""

import warnings
from pathlib import Path

import pytest

from pts3h.cli.output import fail, say, show_warning
from pts3h.cli.search import print_answers
from pts3h.index import Hits
from pts3h.indexing import Answer
from pts3h.util.progress import bar

MARKUP = ["IMG[final].jpg", "a[/b].jpg", "[bold]c.jpg", ":smile:.jpg"]


@pytest.mark.parametrize("name", MARKUP)
def test_answers_show_names_as_they_are(name, capsys):
    print_answers([Answer(name, Path(name), Hits([name], [3]), [{"note": name}])])
    assert capsys.readouterr().out.count(name) == 3


@pytest.mark.parametrize("name", MARKUP)
def test_so_do_bars(name, capsys):
    with bar(name, 2, progress=True) as advance:
        advance(2)
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("speak", [say, show_warning, fail])
def test_no_name_steers_the_terminal(speak, capsys):
    with pytest.raises(SystemExit) if speak is fail else warnings.catch_warnings():
        speak("skipped a\x1b]0;owned\x07\nb.png")
    said = capsys.readouterr().err
    assert "\x1b" not in said and "\x07" not in said and said.count("\n") == 1 and "\\x1b]0;owned" in said
