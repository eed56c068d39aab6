"""pts3h evaluate: figures from codes, with labels or a matrix."""

from pathlib import Path

import numpy as np
import pytest

import pts3h


def test_embeddings_then_codes_then_figures(here, run, kinds):
    settings = ["--bits", 24, "--steps", 200, "--hidden", 16]
    fit = run("fit", "vectors.npy", "--pairs", "positions.csv", "--out", "model", *settings, "--json")
    assert fit.code == 0 and fit.err == ""
    assert fit.json["items"] == 60 and fit.json["known_pairs"] == 200 and fit.json["skipped_items"] == []
    assert fit.json["fingerprint"] == pts3h.Hasher.load("model").fingerprint

    encode = run("encode", "model", "vectors.npy", "--out", "codes.npy", "--json")
    assert encode.json == {"codes": "codes.npy", "items": 60, "bits": 24, "skipped": {}}
    codes = np.load("codes.npy")
    np.testing.assert_array_equal(codes, pts3h.Hasher.load("model").encode("vectors.npy"))
    assert Path("codes.ids.txt").read_text().split() == [str(n) for n in range(60)]

    labels = ["--query-labels", "kinds.npy", "--database-labels", "kinds.npy"]
    evaluate = run("evaluate", "codes.npy", "codes.npy", "--bits", 24, *labels, "--map-at", 10, "--json")
    report = pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=24)
    assert evaluate.json["map"] == pytest.approx(report.map) and report.map > 0.8
    assert evaluate.json == pytest.approx(report.summary(map_at=10))
    spoken = run("evaluate", "codes.npy", "codes.npy", "--bits", 24, *labels)
    assert spoken.code == 0 and f"{report.map:.4f}" in spoken.out


def test_relevance_as_a_matrix(here, run, kinds):
    codes = np.random.default_rng(0).integers(0, 256, (60, 2), np.uint8)
    np.save("codes.npy", codes)
    np.save("relevant.npy", kinds[:, None] == kinds[None, :])
    figures = run("evaluate", "codes.npy", "codes.npy", "-b", 16, "--relevant", "relevant.npy", "--json").json
    assert figures["map"] == pytest.approx(pts3h.evaluate(codes, codes, labels=(kinds, kinds), bits=16).map)


@pytest.mark.parametrize("by", ["both", "meaning", "look"])
def test_two_parts(here, run, kinds, by):
    codes = np.random.default_rng(0).integers(0, 256, (60, 4), np.uint8)
    np.save("codes.npy", codes)
    labels = ["--query-labels", "kinds.npy", "--database-labels", "kinds.npy"]
    parts = ["--bits", 24, "--look-bits", 8, "--weight", 5, "--by", by]
    figures = run("evaluate", "codes.npy", "codes.npy", *parts, *labels, "--json").json
    plain = {"both": None, "meaning": codes[:, :3], "look": codes[:, 3:]}[by]
    if plain is None:  # weights as repeated bits
        bits = np.unpackbits(codes, axis=1)
        plain = np.packbits(np.concatenate([np.tile(bits[:, :24], 5), bits[:, 24:]], axis=1), axis=1)
    report = pts3h.evaluate(plain, plain, labels=(kinds, kinds), bits=8 * plain.shape[1])
    assert figures == pytest.approx(report.summary())


def test_evaluating(here, refused):
    np.save("codes.npy", np.zeros((60, 2), np.uint8))
    np.save("floats.npy", np.zeros((60, 2)))
    base = ("evaluate", "codes.npy", "codes.npy", "--bits", "16")
    both = ("--query-labels", "kinds.npy", "--database-labels", "kinds.npy")
    for flag in ("--query-labels", "--database-labels"):
        refused(*base, flag, "kinds.npy", says="give both --query-labels and --database-labels")
    refused(*base, says="labels")
    refused("evaluate", "codes.npy", "codes.npy", "--bits", "48", *both, says="48")
    refused("evaluate", "floats.npy", "codes.npy", "--bits", "16", *both, says="uint8")
    refused("evaluate", "no.npy", "codes.npy", "--bits", "16", *both, says="no.npy")
    refused(*base, *both, "--order", "random", says="order")
    refused(*base, *both, "--by", "look", says="these codes have no look bits")
    refused(*base, *both, "--look-bits", "9", says="25 bits are 4 bytes wide")
    refused(*base, *both, "--by", "sound", says="by")
