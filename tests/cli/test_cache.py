"""pts3h cache: the listing, and what leaves."""

import os
from pathlib import Path

import pytest

from pts3h.cache import known_files
from pts3h.nets.feature_cache import FrozenBackbone
from pts3h.util.files import cache_folder
from tests.cli.commands import FIT_PHOTOS
from tests.pictures import write_pictures


@pytest.fixture
def filled(here, run, kinds, monkeypatch):
    """Features of 60 photos, no digests of files, and a data set."""
    monkeypatch.setattr(known_files, "MOMENT", 3600 * 10**9)
    assert run(*FIT_PHOTOS, "--pairs", "pairs.csv").code == 0
    (cache_folder("datasets") / "pixels.npy").write_bytes(b"x" * 5000)


def kind_of(listing):
    (kind,) = (kind for kind in listing["kinds"] if "copies" in kind["name"])
    return kind


def test_an_empty_cache(run):
    done = run("cache")
    assert done.code == 0 and done.out.splitlines() == [
        os.environ["PTS3H_CACHE"],
        "features take 0 B, at most 20 GB are kept (PTS3H_CACHE_LIMIT)",
    ]


def test_the_listing(filled, run):
    listing = run("cache", "--json").json
    kind = kind_of(listing)
    assert listing["folder"] == os.environ["PTS3H_CACHE"] and listing["limit"] == 20 * 10**9
    assert kind["name"].startswith("efficientnet-lite0-32px-") and kind["pictures"] == 60
    assert kind["size"] == 60 * (2 * 1280 * 2 + 36)  # the picture and one copy, with its record
    lines = run("cache").out.splitlines()
    assert lines[1].startswith("features take 309 KB, ")
    assert f"{kind['name']}   309 KB          60 pictures  used 20" in "\n".join(lines)
    assert lines[-1].split() == ["datasets", "5.0", "KB"]


def test_limit_and_clear(filled, run):
    assert run("cache", "--limit", "1MB").err == "removed 0 B\n"
    done = run("cache", "--limit", "300KB", "--json")
    assert done.err == "removed 309 KB\n" and [kind["name"] for kind in done.json["kinds"]] == ["datasets"]
    assert run("cache", "--clear").err == "removed 0 B\n"
    done = run("cache", "--clear", "--kind", "datasets")
    assert done.err == "removed 5.0 KB\n" and not Path(cache_folder(), "datasets").exists()


def test_clear_one_kind(filled, run):
    name = kind_of(run("cache", "--json").json)["name"]
    assert run("cache", "--clear", "--kind", name).err == "removed 309 KB\n"
    assert not [kind for kind in run("cache", "--json").json["kinds"] if "copies" in kind["name"]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--limit", "5"], "--limit must be a size such as 5GB or 500MB, got '5'"),
        (["--limit", "5GB", "--clear"], "give --clear or --limit, not both"),
        (["--kind", "datasets"], "--kind says what to clear: add --clear"),
        (["--clear", "--kind", "none"], "the cache has no 'none'"),
    ],
)
def test_mistakes(refused, words, says):
    refused("cache", *words, says=says)


def test_index_after_new_photos_computes_those_alone(filled, run, monkeypatch):
    """One file is new, one is a copy, and one has another name than before."""
    computed = []
    real = FrozenBackbone.__call__
    monkeypatch.setattr(FrozenBackbone, "__call__", lambda self, x: computed.append(len(x)) or real(self, x))
    photos = Path("photos")
    (photos / "10.png").rename(photos / "zz.png")
    (photos / "00copy.png").write_bytes((photos / "03.png").read_bytes())
    write_pictures(Path("new"), 1, seed=5)
    Path("new/00.png").rename(photos / "05a.png")
    assert run("index", "model", "photos", "--to", "photos.index").code == 0
    assert computed == [1]
    assert run("encode", "model", "photos", "--out", "codes.npy").code == 0
    assert computed == [1]
