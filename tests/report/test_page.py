"""The whole page, read back: figures against numpy, names escaped, nothing from elsewhere."""

import base64
import io
import re
from collections import Counter

import numpy as np
import pytest
from PIL import Image

import pts3h
from pts3h.codes import Layout
from pts3h.data.items import Items
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.errors import UserError
from pts3h.report import write_report
from tests.model.models import PAIRS, SMALL, VECTORS, fitted
from tests.pictures import pictures, write_pictures
from tests.report.pages import Page, brute_force

KNOWN = PairList(40, PAIRS)
CHECK = {"by": "pairs", "pairs": 40, "trained": 0.8125, "untrained": 0.625, "kept": "untrained"}
CROWD = {"items": 40, "distinct": 31, "largest": 4}
SECTIONS = ["Queries and what they find", "Distances of pairs", "Course of training", "Figures"]


@pytest.fixture(scope="module")
def hasher():
    return fitted()


@pytest.fixture
def written(tmp_path):
    """Write a page and read it back."""

    def write(model, items, **options):
        write_report(model, items, tmp_path / "report.html", **options)
        return Page((tmp_path / "report.html").read_text())

    return write


def check_alone(page, source):
    """Nothing is loaded and nothing runs; a person who sees nothing is told everything."""
    addresses = [tag[name] for _, tag in page.tags for name in ("src", "href") if name in tag]
    assert all(address.startswith("data:image/") for address in addresses)
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", source)
    assert all(image["alt"] for image in page.all("img"))
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in page.all("svg"))
    assert all(cell["scope"] in ("col", "row") for cell in page.all("th"))
    assert "default-src 'none'" in str(page.all("meta"))
    assert len(page.all("h1")) == 1 and page.all("html") == [{"lang": "en"}]


def test_the_headline(hasher, written):
    page = written(hasher.model, VECTORS)
    sizes = Counter(code.tobytes() for code in hasher.encode(VECTORS))
    distinct, largest = len(sizes), max(sizes.values())
    assert f"40 vectors have {distinct} distinct codes ({distinct / 40:.1%})." in page.text
    assert largest > 1, "or the next line has nothing to say"
    assert f"equal codes has {largest} vectors ({largest / 40:.1%})" in page.text
    assert "A model of 12 bits" in page.text


def test_no_two_codes_are_equal(written):
    page = written(fitted(bits=256).model, VECTORS)
    assert "40 vectors have 40 distinct codes (100.0%)." in page.text and "largest group" not in page.text


def test_sections_come_in_order(hasher, written):
    text = written(hasher.model, VECTORS, known=KNOWN).text
    assert sorted(SECTIONS, key=text.index) == SECTIONS


@pytest.mark.parametrize(
    "known", [KNOWN, LabelPairs(np.arange(40) % 4 - 1), None], ids=["pairs", "labels", "nothing"]
)
def test_the_histogram_is_that_of_the_codes(hasher, written, known):
    far = brute_force(hasher.encode(VECTORS), Layout(12))
    expected = {"random": [0] * 13}
    if known is not None:
        expected = {"alike": [0] * 13, "not alike": [0] * 13, **expected}
        is_known, similar = known.block(np.arange(40))
    for a in range(40):
        for b in range(a):
            expected["random"][far[a, b]] += 1
            if known is not None and is_known[a, b]:
                expected["alike" if similar[a, b] else "not alike"][far[a, b]] += 1
    page = written(hasher.model, VECTORS, known=known)
    header, *rows = page.tables["Pairs at each distance"]
    assert header == ["distance", *expected]
    assert len(rows) > far.max(), "all distances are there"
    assert rows == [[str(d), *(str(counts[d]) for counts in expected.values())] for d in range(len(rows))]
    assert [row[:2] for row in page.tables["Hamming distances of pairs"][1:]] == [
        [kind, str(sum(counts))] for kind, counts in expected.items()
    ]
    assert ("50% is chance" in page.text) == (known is not None)


def test_long_codes_are_put_into_bins(written):
    hasher = fitted(bits=100, neighbours=0.0)
    (_, *rows) = written(hasher.model, VECTORS).tables["Pairs at each distance"]
    far = brute_force(hasher.encode(VECTORS), Layout(100))[np.triu_indices(40, k=1)]
    assert 64 <= far.max() < 98, "two distances share a bin, and the last ones are empty"
    expected, _ = np.histogram(far, bins=range(0, 2 * len(rows) + 2, 2))
    assert [int(row[1]) for row in rows] == expected[: len(rows)].tolist() and sum(expected) == 780
    assert (rows[0][0], rows[-1][0]) == ("0 to 1", f"{2 * len(rows) - 2} to {2 * len(rows) - 1}")
    assert len(rows) < 50


def test_the_threshold(hasher, written):
    """The last thr of the history, 2 cos - 2, as a distance; without pseudo pairs there is none."""
    cosine = hasher.history[-1]["threshold"] / 2 + 1
    text = written(hasher.model, VECTORS).text
    assert f"about distance {12 * (1 - cosine) / 2:.1f}." in text
    assert "about distance" not in written(fitted(gamma=0.0).model, VECTORS).text


def test_vectors_are_shown_by_id(hasher, written):
    page = written(hasher.model, Items(VECTORS, [f"id {n}" for n in range(40)]), queries=3)
    far = brute_force(hasher.encode(VECTORS), Layout(12))
    (_, *rows) = page.tables["Queries and their 8 nearest ids"]
    assert len(rows) == 3 and page.all("img") == []
    for query, *hits, more in rows:
        row = int(query.removeprefix("id "))
        order = [other for other in np.argsort(far[row], kind="stable") if other != row][:8]
        assert hits == [f"id {other} (distance {far[row, other]})" for other in order]
        assert more == f"{(far[row] <= far[row, order[-1]]).sum() - 9} more"


def test_pictures_are_shown_as_such(written, tmp_path):
    images, kinds = pictures(40, side=16)
    page = written(fitted(images, **SMALL).model, images, known=LabelPairs(kinds), queries=4)
    source = (tmp_path / "report.html").read_text()
    check_alone(page, source)
    shown = page.all("img")
    assert len(shown) == 4 * 9 and {(image["width"], image["height"]) for image in shown} == {("112", "112")}
    for image in shown[:9]:
        jpeg = Image.open(io.BytesIO(base64.b64decode(image["src"].partition(",")[2])))
        assert (jpeg.format, jpeg.size) == ("JPEG", (112, 112))
        number = int(image["alt"].removeprefix("picture "))
        expected = images[number].mean(axis=(0, 1))
        assert np.asarray(jpeg).mean(axis=(0, 1)) == pytest.approx(expected, abs=4)
    marks = Counter(tag.get("class") for tag in page.all("li") if tag.get("class") in ("alike", "apart"))
    assert marks["alike"] + marks["apart"] - 2 == 4 * 8  # two are in the key
    assert page.text.count(", alike") == marks["alike"] - 1
    assert page.text.count(", not alike") == marks["apart"] - 1


def test_a_picture_that_vanished(written, tmp_path, monkeypatch):
    """Encoded from the cache, but gone when the page is drawn."""
    write_pictures(tmp_path / "photos", 40, side=16)
    model = fitted(tmp_path / "photos", **SMALL, freeze=True).model
    real = pts3h.Model.encode

    def encode(*arguments, **options):
        encoded = real(*arguments, **options)
        for path in (tmp_path / "photos").iterdir():
            path.unlink()
        return encoded

    monkeypatch.setattr(pts3h.Model, "encode", encode)
    page = written(model, tmp_path / "photos", queries=2)
    assert page.text.count("no picture") == 2 * 9 and page.all("img") == []


def test_pictures_that_cannot_be_read_are_named(written, tmp_path):
    write_pictures(tmp_path / "photos", 40, side=16)
    model = fitted(tmp_path / "photos", **SMALL, freeze=False).model
    for number in range(30):
        (tmp_path / "photos" / f"{number:02}.png").write_text("no picture")
    page = written(model, tmp_path / "photos")
    assert "10 pictures have" in page.text and "30 more cannot be read" in page.text
    (_, *rows) = page.tables["Pictures that cannot be read"]
    assert [row[0] for row in rows] == [f"{number:02}.png" for number in range(20)]
    assert "10 more are not listed" in page.text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "a&lt;b&amp;", "\udcff"]
)
@pytest.mark.parametrize("kind", ["vectors", "pictures"])
def test_hostile_names(hasher, written, tmp_path, name, kind):
    images, _ = pictures(40, side=16)
    content, model = VECTORS, hasher.model
    if kind == "pictures":
        content, model = pts3h.data.items.read_items(images).content, fitted(images, **SMALL).model
    page = written(model, Items(content, [f"{name}{n}" for n in range(40)]))
    check_alone(page, re.sub(r" onerror=", " ", (tmp_path / "report.html").read_text()))
    readable = name.replace("\udcff", "\\udcff")
    shown = {row[0] for rows in page.tables.values() for row in rows} | {
        image["alt"] for image in page.all("img")
    }
    assert any(readable in text for text in shown)


def test_the_course_of_training(hasher, written):
    page = written(hasher.model, VECTORS)
    labels = [chart["aria-label"] for chart in page.all("svg")]
    first, last = hasher.history[0]["loss"], hasher.history[-1]["loss"]
    assert f"loss by step: from {first:.4g} to {last:.4g}" in labels
    shown = {label.split(" by step")[0] for label in labels[1:]}
    assert shown == {name for record in hasher.history for name in record} - {
        "step",
        "learning_rate",
        "omega",
    }


def test_a_model_without_a_history(hasher, written):
    model = pts3h.Hasher(bits=12, steps=3, hidden=8).fit(VECTORS, pairs=PAIRS).model
    model.history.clear()
    assert "Nothing is stored of the course of training" in written(model, VECTORS).text


def test_what_was_held_out(written):
    model = fitted().model
    model.summary["check"] = {**CHECK, **CROWD}
    page = written(model, VECTORS)
    assert (
        "On 40 known pairs that were kept back: an alike pair is nearer than another in 81% of cases, in 62% "
        "without training. Training did not help, so the model makes codes without training." in page.text
    )
    assert ["distinct", "31"] in page.tables["On held-out pairs"]
    assert "check" not in {row[0] for row in page.tables["Trained on"]}


@pytest.mark.parametrize(("found", "rows"), [(CROWD, 4), ({}, 0)])
def test_there_may_be_less_to_say(written, found, rows):
    model = fitted().model
    model.summary["check"] = found
    page = written(model, VECTORS)
    assert len(page.tables.get("On held-out pairs", [])) == rows and "kept back" not in page.text


def test_settings_and_what_was_trained_on(hasher, written):
    tables = written(hasher.model, VECTORS).tables
    assert {row[0].replace(" ", "_") for row in tables["Settings used"][1:]} == {*hasher.used.to_json()}
    assert ["bits", "12"] in tables["Settings used"] and ["consistency", "yes"] in tables["Settings used"]
    assert ["known pairs", "60"] in tables["Trained on"] and ["items", "40"] in tables["Trained on"]


def test_a_model_from_disk_and_the_same_seed_give_the_same_page(hasher, tmp_path):
    hasher.save(tmp_path / "model")
    models = [(hasher.model, 0), (pts3h.load_model(tmp_path / "model"), 0), (hasher.model, 1)]
    pages = []
    for model, seed in models:
        write_report(model, VECTORS, tmp_path / "page.html", known=KNOWN, seed=seed)
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_few_items(hasher, written):
    assert "There is no pair to look at" in written(hasher.model, VECTORS[:1]).text
    assert len(written(hasher.model, VECTORS[:3]).tables["Queries and their 8 nearest ids"]) == 4


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"queries": 0}, "queries must be from 1 to 100, got 0"),
        ({"queries": 101}, "queries must be from 1 to 100, got 101"),
        ({"seed": -1}, "seed must be 0 or more, got -1"),
    ],
)
def test_options_that_cannot_be_meant(hasher, tmp_path, options, says):
    with pytest.raises(UserError, match=says):
        write_report(hasher.model, VECTORS, tmp_path / "page.html", **options)
    assert not (tmp_path / "page.html").exists()
