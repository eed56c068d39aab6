"""Every bound on a request: what goes over it is refused in one line, before it costs anything."""

import gc
import io
import json

import pytest
from PIL import Image
from tools.without_bounds import BOUNDS, LIBRARY

from pts3h.web import encoding, serving
from pts3h.web.limits import Limits
from pts3h.web.routes import jobs
from tests.data.test_decoding import png_header

PNG = {"content-type": "image/png"}
CODE = "00" * 4


def refused(answer, status, code, says=""):
    """A problem of this kind, in our words."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert set(answer.json()) == {"error", "code"} and says in answer.json()["error"], answer.text
    assert answer.headers["x-request-id"]
    return answer


def picture(kind="PNG", size=(8, 8)):
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, kind)
    return file.getvalue()


def search(client, **body):
    return client.post("/api/search", json=body)


def upload(client, content, query="", **headers):
    return client.post(f"/api/search/picture{query}", content=content, headers={**PNG, **headers})


def in_pieces(content, size=1000):
    """A body that does not say how long it is."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


@pytest.mark.parametrize("pieces", [False, True])
def test_bodies(start, pieces):
    """Pictures, lists of pairs and questions each have a largest size, whether or not they tell it."""
    client = start(limits=Limits(upload_bytes=5_000, json_bytes=2_000, csv_bytes=3_000))
    send = in_pieces if pieces else bytes
    assert upload(client, send(picture() + b"\0" * 3_500)).status_code == 200
    refused(upload(client, send(picture() + b"\0" * 6_000)), 413, "too_large")
    question = json.dumps({"code": CODE, "k": 1}).encode()
    for path, kind, content, most in [
        ("/api/search", "application/json", question + b" " * 3_000, 2_000),
        ("/api/answers", "application/json", question + b" " * 3_000, 2_000),
        ("/api/answers/import", "text/csv", b"a,b,similar\n" + b"\n" * 4_000, 3_000),
    ]:
        headers = {"content-type": kind}
        refused(client.post(path, content=send(content), headers=headers), 413, "too_large")
        assert client.post(path, content=send(content[:most]), headers=headers).status_code in (200, 422)


def test_pixels_are_counted_by_the_header(start, monkeypatch):
    client = start(limits=Limits(pixels=1_000))
    assert upload(client, picture(size=(30, 30))).status_code == 200
    monkeypatch.setattr(encoding, "decode_file", None)  # nothing is decoded
    refused(upload(client, picture(size=(40, 30))), 413, "too_large", "40 x 30 pixels")
    refused(upload(client, png_header(60_000, 60_000, 2)), 413, "too_large")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_formats_that_are_read(client, kind):
    assert upload(client, picture(kind)).status_code == 200


@pytest.mark.parametrize("kind", ["ICO", "PPM", "PCX", "TGA"])
def test_formats_that_are_not(client, kind):
    """Pillow reads more than we let it read from strangers."""
    refused(upload(client, picture(kind)), 415, "unsupported")


@pytest.mark.parametrize("content", [b"", b"hello", picture()[:45], b"https://example.org/a.png"])
def test_what_is_no_picture(client, content):
    answer = refused(upload(client, content), 415, "unsupported")
    assert "0x" not in answer.text and "BytesIO" not in answer.text


def test_a_picture_says_that_it_is_one(client):
    """No page of another site can send such a request without asking first."""
    refused(client.post("/api/search/picture", content=picture()), 415, "unsupported")
    for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded"):
        refused(upload(client, picture(), **{"content-type": kind}), 415, "unsupported")
        body = client.post("/api/search", content=b'{"like": ["00.png"]}', headers={"content-type": kind})
        refused(body, 422, "bad_request")


def test_hits(start):
    client = start(limits=Limits(k=10, window=30))
    assert len(search(client, code=CODE, k=10, offset=20).json()["hits"]) == 10
    for over in ({"k": 11}, {"k": 10, "offset": 21}):
        refused(search(client, code=CODE, **over), 422, "bad_request", "at most")
        query = "&".join(f"{name}={value}" for name, value in over.items())
        refused(upload(client, picture(), f"?{query}"), 422, "bad_request", "at most")


def test_radius(start):
    client = start(limits=Limits(radius=5, duplicates_radius=3))
    assert client.get("/api/status").json()["limits"]["radius"] == 5
    assert search(client, code=CODE, radius=5).status_code == 200
    refused(search(client, code=CODE, radius=6), 422, "bad_request", "at most 5")
    refused(upload(client, picture(), "?radius=6"), 422, "bad_request", "at most 5")
    assert client.get("/api/duplicates?radius=3").status_code == 200
    refused(client.get("/api/duplicates?radius=4"), 422, "bad_request", "at most 3")


def test_queries(start):
    client = start(limits=Limits(queries=5, k=100, window=40))
    names = [f"{number:02}.png" for number in range(6)]
    assert search(client, codes=[CODE] * 5, k=1).status_code == 200
    refused(search(client, codes=[CODE] * 6, k=1), 422, "bad_request", "at most 5 queries")
    assert search(client, like=names[:3], unlike=names[3:5]).status_code == 200
    refused(search(client, like=names[:3], unlike=names[3:]), 422, "bad_request", "at most 5 queries")


def test_hits_of_all_queries_together(start):
    client = start(limits=Limits(queries=1_000, window=40))
    assert search(client, codes=[CODE] * 10, k=40).status_code == 200
    refused(search(client, codes=[CODE] * 11, k=40), 422, "bad_request", "at most 400")


@pytest.mark.parametrize(
    "where",
    [
        {"or": [{"kind": number} for number in range(257)]},
        {"kind": {"in": list(range(10_001))}},
        {"not": {"not": {"kind": {"about": 5}}}},
        {},
        {"kind": None},
    ],
)
def test_filters(client, where):
    """A filter that is too wide, or none at all, is refused by the library before it is asked."""
    refused(search(client, code=CODE, where=where), 422, "bad_request")
    query = f"?where={json.dumps(where)}"
    if len(query) < 4_000:  # there is room for no more in an address
        refused(client.get(f"/api/items{query}"), 422, "bad_request")
        refused(upload(client, picture(), query), 422, "bad_request")


def nested(depth):
    return '{"a": ' * depth + "1" + "}" * depth


def test_depth_of_json(start):
    """Brackets without end are never parsed; those in texts do not count."""
    client = start(limits=Limits(depth=6))
    headers = {"content-type": "application/json"}
    for depth in (7, 500):
        body = client.post("/api/search", content=f'{{"where": {nested(depth)}}}', headers=headers)
        refused(body, 422, "bad_request", "nested 6 deep")
        text = "[" * depth + "]" * depth
        refused(
            client.post("/api/answers", content=text, headers=headers), 422, "bad_request", "nested 6 deep"
        )
        refused(
            client.get("/api/items", params={"where": nested(depth)}), 422, "bad_request", "nested 6 deep"
        )
    deep = search(client, code=CODE, where={"kind": {"in": ["[[[[[[[[", '"{{{{{{{{', "\\"]}})
    assert deep.status_code == 200


def test_uploads_per_minute(start):
    client = start(limits=Limits(uploads_per_minute=12))
    answers = [upload(client, picture()) for _ in range(6)]
    assert [answer.status_code for answer in answers[:3]] == [200] * 3
    late = next(answer for answer in answers if answer.status_code != 200)
    refused(late, 429, "too_many")
    assert 1 <= int(late.headers["retry-after"]) <= 6
    assert search(client, code=CODE).status_code == 200  # searches are not counted


def test_names(client):
    """Of people and of groups."""
    placed = {"kind": "place", "item": "00.png", "new": True}
    refused(client.post("/api/answers", json={**placed, "who": "a" * 101}), 422, "bad_request")
    assert client.post("/api/answers", json={**placed, "who": "a" * 100}).status_code == 201
    refused(client.patch("/api/groups/1", json={"name": "a" * 201}), 422, "bad_request")
    assert client.patch("/api/groups/1", json={"name": "a" * 200}).status_code == 200


def test_connections(client, monkeypatch):
    """More than a thousand at once are refused by uvicorn itself."""
    begun = []
    monkeypatch.setattr(serving.Server, "run", lambda server, sockets: begun.append(server.config))
    with serving.bind("127.0.0.1", 0) as listener:
        serving.serve(client.app.state.site, listener)
    gc.unfreeze()
    assert begun[0].limit_concurrency == 1_000


def test_uploads_that_wait(client, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_WAITING", 0)
    refused(upload(client, picture()), 503, "busy")


def test_streams(client, monkeypatch, tmp_path):
    job = tmp_path / "photos.index.pts3h" / "jobs" / "1"
    job.mkdir(parents=True)
    (job / "progress.jsonl").write_text('{"kind": "state", "state": "failed"}\n')
    assert client.get("/api/jobs/1/events").status_code == 200
    monkeypatch.setattr(jobs, "MOST_STREAMS", 0)
    refused(client.get("/api/jobs/1/events"), 503, "busy")


@pytest.mark.parametrize(
    "path",
    [
        "/api/items?limit=1001",
        "/api/items?offset=-1",
        f"/api/items?names={'a' * 201}",
        "/api/duplicates?limit=101",
        "/api/answers?limit=1001",
        "/api/thumbnail?id=00.png&size=100",
        "/api/questions/next?" + "&".join(["skip=a"] * 101),
    ],
)
def test_pages(client, path):
    refused(client.get(path), 422, "bad_request")


def test_ids(client, monkeypatch):
    """An id that is too long is refused before the index is asked, which would refuse it as well."""
    monkeypatch.setattr(client.app.state.site.collection, "reading", None)
    refused(client.get(f"/api/item?id={'a' * 4097}"), 422, "bad_request")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"like": ["00.png"], "code": CODE},
        {"unlike": ["00.png"]},
        {"code": "zz"},
        {"code": "000"},
        {"code": CODE + "00"},
        {"codes": []},
        {"code": CODE, "by": "smell"},
        {"code": CODE, "k": 0},
        {"code": CODE, "k": 2.5},
        {"code": CODE, "surprise": 1},
    ],
)
def test_questions_that_cannot_be_asked(client, body):
    refused(client.post("/api/search", json=body), 422, "bad_request")


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
def test_every_bound_is_where_the_tool_takes_it_out(bound):
    """``make bounds`` takes minutes, and nobody should find out there that a line has moved."""
    assert bound.held in (LIBRARY / bound.file).read_text(encoding="utf-8")
