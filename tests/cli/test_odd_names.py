"""Names of files that mean something to a terminal, a library or an encoding."""

import os
import warnings
from pathlib import Path

import pytest

from pts3h.cli.output import fail, say, show_warning
from pts3h.cli.search import print_answers
from pts3h.index import Hits
from pts3h.indexing import Answer
from pts3h.util.progress import bar
from tests.cli.commands import FIT_PHOTOS

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


class TestNoText:
    """A file whose name is not UTF-8, as older systems and cameras write them."""

    @pytest.fixture
    def photos(self, here, kinds):
        strange = Path(os.fsdecode(b"photos/caf\xe9.png"))
        (here / "photos" / "00.png").rename(here / strange)
        (here / "pairs.csv").write_text((here / "pairs.csv").read_text().replace("00.png", "caf\\udce9.png"))
        return strange

    def test_every_command_goes_through(self, photos, run):
        assert run(*FIT_PHOTOS, "--pairs", "pairs.csv").code == 0
        done = run("encode", "model", "photos", "--out", "codes.npy")
        assert done.code == 0 and Path("codes.ids.txt").read_text().split()[-1] == "caf\\udce9.png"
        assert run("index", "model", "photos", "--to", "an.index", "--json").json["count"] == 60
        again = run("index", "model", "photos", "--to", "an.index", "--json").json
        assert again["unchanged"] == 60
        found = run("search", "an.index", photos, "-k", 1, "--json")
        assert found.json[0]["hits"][0]["distance"] == 0
        shown = run("search", "an.index", photos, "-k", 3)
        assert shown.code == 0 and "caf\\udce9.png" in shown.out
        assert run("search", "an.index", photos, "--html", "hits.html").code == 0
        assert "caf\\udce9.png" in Path("hits.html").read_text()

    def test_two_names_that_would_be_one(self, photos, run):
        Path("photos/caf\\udce9.png").write_bytes(photos.read_bytes())
        done = run("fit", "photos", "--out", "model")
        assert done.code == 2 and "are both called caf\\udce9.png: rename one" in done.err
