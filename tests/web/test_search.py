"""Searches over HTTP find what the library finds."""

import threading

import numpy as np
import pytest

import pts3h
from pts3h.codes import distances
from pts3h.index.local.index import LocalIndex
from pts3h.nets.feature_cache import FrozenBackbone

ROUNDED = 2  # bits at their threshold, which may change where one picture is encoded and not many


def codes_by_id(world):
    """Every id and its code."""
    with pts3h.open_index(world.index, read_only=True) as index:
        layout = index.layout
        pairs = [(one, code) for ids, codes in index.scan() for one, code in zip(ids, codes, strict=True)]
    names = sorted(name for name, _ in pairs)
    held = dict(pairs)
    return names, np.stack([held[name] for name in names]), layout


def brute_force(world, query, by="both", names=None):
    """(distance, id) of all items, nearest first, by plain distances."""
    ids, codes, layout = codes_by_id(world)
    far = distances(query, codes, layout, by)
    return sorted((int(d), name) for d, name in zip(far, ids, strict=True) if names is None or name in names)


def code_of(world, name):
    names, codes, _ = codes_by_id(world)
    return codes[names.index(name)]


def found(answer):
    assert answer.status_code == 200, answer.text
    return [(hit["distance"], hit["id"]) for hit in answer.json()["hits"]]


def token_of(answer):
    """The code of an upload."""
    return np.frombuffer(bytes.fromhex(answer.json()["query"]["token"]), np.uint8)


@pytest.mark.parametrize("by", ["both", "meaning", "look"])
def test_by_id_code_and_upload(client, world, by):
    """One picture, asked for in three ways, finds what brute force finds; an upload, by the code it tells."""
    query = code_of(world, "07.png")
    expected = brute_force(world, query, by)[:9]
    assert found(client.post("/api/search", json={"like": ["07.png"], "k": 9, "by": by})) == expected
    assert (
        found(client.post("/api/search", json={"code": query.tobytes().hex(), "k": 9, "by": by})) == expected
    )
    content = (world.photos / "07.png").read_bytes()
    answer = client.post(
        f"/api/search/picture?k=9&by={by}", content=content, headers={"content-type": "image/png"}
    )
    code = token_of(answer)
    assert found(answer) == brute_force(world, code, by)[:9]
    assert pts3h.hamming(code[None], query[None]).item() <= ROUNDED


def test_a_picture_of_the_collection_has_the_features_it_had(client, world, monkeypatch):
    """The network may round otherwise for one picture than for many: a known one is not computed again."""
    monkeypatch.setattr(FrozenBackbone, "__call__", None)
    content = (world.photos / "07.png").read_bytes()
    answer = client.post("/api/search/picture", content=content, headers={"content-type": "image/png"})
    assert pts3h.hamming(token_of(answer)[None], code_of(world, "07.png")[None]).item() <= ROUNDED


def test_an_upload_leaves_nothing_behind(client, world, monkeypatch, tmp_path):
    """A picture that was never seen is encoded, and neither it nor its features are kept."""
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "empty"))
    content = (world.photos / "07.png").read_bytes()
    answer = client.post("/api/search/picture", content=content, headers={"content-type": "image/png"})
    assert pts3h.hamming(token_of(answer)[None], code_of(world, "07.png")[None]).item() <= ROUNDED
    assert [path for path in (tmp_path / "empty").rglob("*") if path.is_file()] == []


def test_pages_follow_each_other(client, world):
    everything = brute_force(world, code_of(world, "00.png"))
    pages = [
        client.post("/api/search", json={"like": ["00.png"], "k": 25, "offset": offset})
        for offset in (0, 25, 50)
    ]
    assert [hit for page in pages for hit in found(page)] == everything
    assert [page.json()["total"] for page in pages] == [None, None, 60]


@pytest.mark.parametrize("radius", [0, 3, 9])
def test_radius(client, world, radius):
    expected = [hit for hit in brute_force(world, code_of(world, "04.png")) if hit[0] <= radius]
    answer = client.post("/api/search", json={"like": ["04.png"], "k": 60, "radius": radius})
    assert found(answer) == expected
    assert answer.json()["total"] == len(expected)


def test_filter(client, world):
    kind = {f"{number:02}.png" for number in range(1, 60, 3)}
    expected = brute_force(world, code_of(world, "04.png"), names=kind)
    answer = client.post("/api/search", json={"like": ["04.png"], "k": 60, "where": {"kind": 1}})
    assert found(answer) == expected
    assert all(hit["meta"] == {"kind": 1} for hit in answer.json()["hits"])


def test_many_codes(client, world):
    _, codes, _ = codes_by_id(world)
    texts = [code.tobytes().hex() for code in codes]
    body = client.post("/api/search", json={"codes": texts, "k": 3, "brief": True}).json()
    for code, result in zip(codes, body["results"], strict=True):
        assert [(hit["distance"], hit["id"]) for hit in result["hits"]] == brute_force(world, code)[:3]


def test_several_to_be_like_and_not_like(client, world):
    """The order is that of the mean distance to what is liked, less half of that to what is not."""
    like, unlike = ["00.png", "03.png"], ["01.png"]
    names, codes, layout = codes_by_id(world)
    near = distances(codes, np.stack([code_of(world, name) for name in like]), layout).astype(float)
    far = distances(codes, np.stack([code_of(world, name) for name in unlike]), layout).astype(float)
    score = near.mean(axis=1) - far.mean(axis=1) / 2
    order = sorted(
        (score[place], near[place].min(), name)
        for place, name in enumerate(names)
        if name not in (*like, *unlike)
    )
    answer = client.post("/api/search", json={"like": like, "unlike": unlike, "k": 20})
    assert found(answer) == [(nearest, name) for _, nearest, name in order[:20]]


def test_explained_bits_are_those_that_differ(client, world):
    mine, theirs = code_of(world, "00.png"), code_of(world, "01.png")
    body = client.post("/api/explain", json={"id": "00.png", "other": "01.png"}).json()
    ones, others = np.unpackbits(mine), np.unpackbits(theirs)
    expected = [
        {"bit": bit, "part": "meaning" if bit < 16 else "look", "mine": int(one), "theirs": int(other)}
        for bit, (one, other) in enumerate(zip(ones, others, strict=True))
        if one != other
    ]
    assert body["bits"] == expected
    meaning, look = (sum(bit["part"] == part for bit in expected) for part in ("meaning", "look"))
    assert body["by"] == {"both": 3 * meaning + look, "meaning": meaning, "look": look}
    by_code = client.post("/api/explain", json={"id": "00.png", "code": theirs.tobytes().hex()}).json()
    assert by_code == body


@pytest.mark.parametrize(
    ("asked", "at_once"),
    [
        ({"like": ["07.png"]}, True),
        ({"like": ["07.png"], "k": 60}, True),
        ({"like": ["07.png"], "k": 101}, False),
        ({"like": ["07.png"], "where": {"kind": 1}}, False),
        ({"like": ["07.png", "08.png"]}, False),
        ({"like": ["07.png"], "unlike": ["08.png"]}, False),
        ({"code": "00000000"}, True),
        ({"codes": ["00000000"]}, True),
        ({"codes": ["00000000", "ffffffff"]}, False),
    ],
)
def test_only_what_takes_a_moment_is_answered_without_a_thread(client, monkeypatch, asked, at_once):
    """A thread of the pool would take longer to begin; anything that may take long would hold up others."""
    begun_by = []

    def noted(self, *given, **named):
        begun_by.append(threading.current_thread().name)
        return search(self, *given, **named)

    assert client.post("/api/search", json=asked).status_code == 200  # everything is read
    search = LocalIndex.search
    monkeypatch.setattr(LocalIndex, "search", noted)
    assert client.post("/api/search", json=asked).status_code == 200
    assert [name.startswith("search") for name in begun_by] == [not at_once]


def test_an_index_that_somebody_wrote_to_is_read_by_a_thread(client, world, monkeypatch):
    """To catch up may take long. The next search is answered at once again."""
    begun_by, search = [], LocalIndex.search

    def noted(self, *given, **named):
        begun_by.append(threading.current_thread().name.startswith("search"))
        return search(self, *given, **named)

    client.post("/api/search", json={"like": ["07.png"]})
    with pts3h.open_index(world.index) as other:
        other.add(["new.png"], np.zeros((1, 4), np.uint8))
    monkeypatch.setattr(LocalIndex, "search", noted)
    answers = [found(client.post("/api/search", json={"code": "00000000", "k": 1})) for _ in range(2)]
    assert answers == 2 * [[(0, "new.png")]] and begun_by == [True, False]
