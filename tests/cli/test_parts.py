"""Codes with look bits on the command line: index, search, dedup and encode."""

import json
import shutil

import numpy as np
import pytest

import pts3h
from pts3h.codes import DEFAULT_WEIGHT, Layout
from tests.cli.commands import FIT_VECTORS, PHOTOS, QUICK

LAYOUT = Layout(10, 6, DEFAULT_WEIGHT)
PARTS = ("--bits", 10, "--look-bits", 6)


def by_hand(bits, by):
    """Distance of every item to the first one."""
    differ = bits != bits[0]
    meaning, look = differ[:, :10].sum(1), differ[:, 10:].sum(1)
    return {"meaning": meaning, "look": look, "both": DEFAULT_WEIGHT * meaning + look}[by]


@pytest.fixture
def fitted(here, run, kinds):
    """model/ of 10 + 6 bits, and query.npy, the vector of item 0."""
    assert run(*FIT_VECTORS, *PARTS).code == 0
    np.save("query.npy", np.load("vectors.npy")[:1])


@pytest.fixture
def bits(fitted, run):
    """The bits of all items, which are in an.index."""
    assert run("index", "model", "vectors.npy", "--to", "an.index").code == 0
    return np.unpackbits(pts3h.Hasher.load("model").encode("vectors.npy"), axis=1)


def test_an_index_has_the_layout_of_its_model(bits):
    with pts3h.open_index("an.index") as index:
        assert index.layout == LAYOUT


@pytest.mark.parametrize("flags", [[], ["--by", "both"], ["--by", "meaning"], ["--by", "look"]], ids=str)
def test_search(bits, run, flags):
    near = by_hand(bits, flags[1] if flags else "both")
    expected = sorted((int(distance), str(row)) for row, distance in enumerate(near))
    for limits, wanted in [
        (["-k", 7], expected[:7]),
        (["--radius", 3], [hit for hit in expected if hit[0] <= 3]),
    ]:
        found = run("search", "an.index", "query.npy", *limits, *flags, "--json").json[0]["hits"]
        assert [(hit["distance"], hit["id"]) for hit in found] == wanted


@pytest.mark.parametrize(
    ("by", "flags"), [("look", []), ("look", ["--by", "look"]), ("meaning", ["--by", "meaning"])]
)
def test_near_duplicates_are_alike_by_look(bits, run, by, flags):
    part = bits[:, 10:] if by == "look" else bits[:, :10]
    close = (part[:, None] != part[None]).sum(2) <= 1
    np.fill_diagonal(close, False)
    groups = run("dedup", "an.index", "--radius", 1, *flags, "--json").json
    assert {int(name) for group in groups for name in group} == {*np.flatnonzero(close.any(axis=1)).tolist()}
    assert f"groups by {by}, radius 1" in run("dedup", "an.index", "--radius", 1, *flags).err


@pytest.mark.parametrize(
    "flags",
    [PHOTOS, [*QUICK, "--image-size", 32, "--backbone", "small", "--fine-tune"]],
    ids=["frozen", "fine-tuned"],
)
def test_pictures_from_fit_to_near_copies(here, run, kinds, flags):
    shutil.copy("photos/00.png", "photos/a copy.png")
    done = run("fit", "photos", "--pairs", "pairs.csv", "--out", "model", *PARTS, *flags, "--json").json
    assert (done["bits"], done["look_bits"], done["weight"]) == (10, 6, DEFAULT_WEIGHT)
    page = (here / "model" / "report.html").read_text()
    assert "A model of 10 + 6 bits" in page and "Distances of pairs by meaning" in page
    assert f"A learned bit that differs counts {DEFAULT_WEIGHT}, a look bit 1." in page
    assert run("index", "model", "photos", "--to", "an.index").code == 0
    encoded = pts3h.load_model("model").encode("photos")
    bits = np.unpackbits(encoded.codes, axis=1)
    for by in ("meaning", "look", "both"):
        expected = sorted(zip(by_hand(bits, by).tolist(), encoded.ids, strict=True))[:9]
        found = run("search", "an.index", "photos/00.png", "-k", 9, "--by", by, "--json").json[0]["hits"]
        assert [(hit["distance"], hit["id"]) for hit in found] == expected
    groups = run("dedup", "an.index", "--radius", 0, "--json").json
    assert any({"00.png", "a copy.png"} <= {*group} for group in groups)
    assert {frozenset(group) for group in groups} == equal_groups(encoded.ids, bits[:, 10:])


def equal_groups(ids, bits):
    """Sets of ids whose bits are the same, of two or more."""
    groups = {}
    for name, row in zip(ids, bits, strict=True):
        groups.setdefault(row.tobytes(), set()).add(name)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def test_no_look_to_search_by(here, run, kinds):
    assert run(*FIT_VECTORS, "--bits", 16).code == 0
    np.save("query.npy", np.load("vectors.npy")[:1])
    assert run("index", "model", "vectors.npy", "--to", "plain.index").code == 0
    done = run("search", "plain.index", "query.npy", "--by", "look")
    assert done.code == 2 and "these codes have no look bits" in done.err and done.err.count("\n") == 1


def test_encode_says_what_the_bits_are(fitted, run):
    spoken = run("encode", "model", "vectors.npy", "--out", "codes.npy")
    assert "60 codes of 10 + 6 bits are in" in spoken.err
    told = json.loads(run("encode", "model", "vectors.npy", "--out", "more.npy", "--json").out)
    assert (told["bits"], told["look_bits"], told["weight"]) == (10, 6, DEFAULT_WEIGHT)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["index", "model", "vectors.npy", "--to", "plain.index"], "holds codes of 16 bits, not 10 + 6 bits"),
        (["dedup", "an.index", "--radius", "7"], "radius must be a whole number from 0 to 6, got 7"),
        (["dedup", "plain.index", "--by", "look"], "these codes have no look bits"),
        (
            ["search", "plain.index", "query.npy", "--model", "model"],
            "the model makes codes of 10 + 6 bits, the index holds codes of 16 bits",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_does_not_fit_together(bits, run, command, says):
    pts3h.open_index("plain.index", 16).close()
    done = run(*command)
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1 and says in done.err


def test_more_look_bits_than_the_vectors_have_numbers(refused):
    refused(*FIT_VECTORS, "--look-bits", 9, says="look_bits=9 needs as many directions")
