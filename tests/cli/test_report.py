"""pts3h report, and the page that fit writes."""

from pathlib import Path

import numpy as np
import pytest

import pts3h
from tests.cli.commands import FIT_VECTORS, PHOTOS
from tests.report.pages import Page

SHOW_WARNINGS = pytest.mark.filterwarnings("default")


def test_the_page_of_fit_can_be_made_again(here, run, kinds):
    fit = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS)
    assert fit.err.endswith("look at model/report.html\n")
    done = run("report", "model", "photos", "--pairs", "pairs.csv")
    assert (done.code, done.out, done.err) == (0, "", "look at report.html\n")
    assert Path("report.html").read_bytes() == Path("model/report.html").read_bytes()


def test_without_pairs(here, run, kinds):
    run(*FIT_VECTORS)
    assert run("report", "model", "vectors.npy", "--out", "page.html", "--queries", 3, "--seed", 1).code == 0
    page = Page(Path("page.html").read_text())
    assert page.tables["Pairs at each distance"][0] == ["distance", "random"]
    assert len(page.tables["Queries and their 8 nearest ids"]) == 4 and "(seed 1)" in page.text


@pytest.mark.parametrize("given", [["--labels", "kinds.npy"], []])
def test_labels_given_or_brought_along(here, run, kinds, given):
    run(*FIT_VECTORS)
    vectors = np.load("vectors.npy")
    rows = [",".join(map(str, (*row, kind))) for row, kind in zip(vectors, kinds, strict=True)]
    Path("items.csv").write_text("\n".join([",".join([*"abcdefgh", "label"]), *rows]))
    assert run("report", "model", "vectors.npy" if given else "items.csv", *given).code == 0
    (_, *rows) = Page(Path("report.html").read_text()).tables["Hamming distances of pairs"]
    assert [row[:2] for row in rows] == [["alike", "570"], ["not alike", "1,200"], ["random", "1,770"]]


def test_labels_that_say_nothing_are_done_without(here, run, kinds):
    run(*FIT_VECTORS)
    rows = [",".join(map(str, (*row, "same"))) for row in np.load("vectors.npy")]
    Path("items.csv").write_text("\n".join([",".join([*"abcdefgh", "label"]), *rows]))
    assert run("report", "model", "items.csv").code == 0


def test_mistakes(here, refused, run):
    run(*FIT_VECTORS)
    refused("report", "nowhere", "vectors.npy", says="nowhere is not a model folder")
    refused(
        "report",
        "model",
        "photos",
        says="this model encodes vectors of 8 numbers, and these items are pictures",
    )
    refused("report", "model", "vectors.npy", "--pairs", "nowhere.csv", says="there is no pairs file")
    refused("report", "model", "vectors.npy", "--queries", "0", says="queries must be from 1 to 100")
    refused("report", "model", "vectors.npy", "--seed", "-1", says="seed must be 0 or more")
    Path("report.html").write_text("mine")
    refused("report", "model", "vectors.npy", says="report.html exists: choose another file")
    assert run("report", "model", "vectors.npy", "--overwrite").code == 0
    assert Path("report.html").read_text() != "mine"


def test_fit_may_leave_it_out(here, run, kinds):
    done = run(*FIT_VECTORS, "--no-report", "--json")
    assert done.json["report"] is None and not Path("model/report.html").exists()
    done = run(*FIT_VECTORS, "--overwrite", "--json")
    assert done.json["report"] == "model/report.html" and Path("model/report.html").exists()
    run(*FIT_VECTORS, "--overwrite", "--no-report")
    assert not Path("model/report.html").exists(), "a page of the model before would mislead"


def test_the_page_shows_what_was_learned_from(here, run, kinds):
    """0 - 1 - 2 are alike and 2 is not like 3: three alike and three not."""
    Path("few.csv").write_text("a,b,similar\n0,1,1\n1,2,1\n2,3,0\n")
    run("fit", "vectors.npy", "--pairs", "few.csv", "--transitive", "--steps", 2, "--out", "model")
    (_, *rows) = Page(Path("model/report.html").read_text()).tables["Hamming distances of pairs"]
    assert [row[:2] for row in rows] == [["alike", "3"], ["not alike", "3"], ["random", "1,770"]]


@SHOW_WARNINGS
@pytest.mark.parametrize(
    ("error", "says"),
    [(OSError(28, "the disk is full"), "the disk is full"), (KeyboardInterrupt(), "Interrupt")],
)
def test_fit_does_not_fail_with_its_page(here, run, kinds, monkeypatch, error, says):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("pts3h.cli.fit.write_report", broken)
    done = run(*FIT_VECTORS)
    warning, last, *_ = done.err.splitlines()
    assert done.code == 0 and last.endswith("the model is in model")
    assert warning.startswith("pts3h: warning: model/report.html is not written: ") and says in warning
    assert pts3h.load_model("model").bits == 64 and not Path("model/report.html").exists()
