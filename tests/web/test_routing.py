"""A quick route answers as FastAPI would: the same endpoint behind both."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pts3h.web import routing
from pts3h.web.errors import add_handlers, documented
from pts3h.web.limits import Limits
from pts3h.web.schemas import Found, Hit, Search
from pts3h.web.site import Site, TheSite

JSON = {"content-type": "application/json"}


async def echo(site: TheSite, asked: Search) -> Found:
    """What was understood."""
    hit = Hit(
        id=asked.code or "é\n", distance=asked.k, meta={"asked": asked.model_dump()}, picture=asked.brief
    )
    return Found(total=asked.radius, hits=[hit], took_ms=0.5)


def client_of(kind):
    app, site = FastAPI(), Site.__new__(Site)
    site.limits = Limits(depth=6)
    app.state.site = site
    add_handlers(app)
    router = routing.router("echo")
    router.add_api_route(
        "/echo", echo, methods=["POST"], responses=documented(404), route_class_override=kind
    )
    app.include_router(router)
    return TestClient(app)


@pytest.fixture(scope="module")
def both():
    return client_of(routing.QuickRoute), client_of(routing.Route)


GOOD = [
    b'{"code": "00ff"}',
    b' {"like": ["a", "\\u00e9\\n"], "unlike": ["b"], "k": 3, "offset": 4, "radius": 0, "by": "look"}\n',
    b'{"codes": ["00", "01"], "where": {"price": {"<": 1e300}, "x": null}, "brief": true}',
    b'{"code": "00", "k": "7"}',
    b'{"code": "00", "k": 7.0, "brief": "yes"}',
    b"{}",
]
BAD = [
    b'{"code": "0"}',
    b'{"code": "xy"}',
    b'{"code": "00", "k": 0}',
    b'{"code": "00", "k": 7.5}',
    b'{"code": "00", "radius": -1}',
    b'{"code": "00", "more": 1}',
    b'{"like": []}',
    b'{"like": [""]}',
    b'{"where": {}}',
    b'{"by": "name"}',
    b"[]",
    b"null",
    b'"text"',
    b"[" * 7 + b"]" * 7,
]
NO_JSON = [b"", b"{", b'{"k": }', b'{"k": 1} {}', b'{"code": "\xff"}', b"\xff\xfe", b"nonsense"]


@pytest.mark.parametrize("body", GOOD)
def test_understood_alike(both, body):
    quick, plain = (client.post("/echo", content=body, headers=JSON) for client in both)
    assert quick.status_code == plain.status_code == 200
    assert quick.json() == plain.json()
    assert quick.headers["content-type"] == plain.headers["content-type"] == "application/json"


@pytest.mark.parametrize("body", BAD)
def test_refused_alike(both, body):
    quick, plain = (client.post("/echo", content=body, headers=JSON) for client in both)
    assert quick.status_code == plain.status_code == 422
    assert quick.json()["code"] == plain.json()["code"] == "bad_request"
    place, told = quick.json()["error"].split(":")[0], plain.json()["error"].split(":")[0]
    assert place == told  # the same part of the body is named


@pytest.mark.parametrize("body", NO_JSON)
def test_what_is_no_json(both, body):
    quick, _ = both
    answer = quick.post("/echo", content=body, headers=JSON)
    assert answer.status_code == 422 and answer.json()["code"] == "bad_request"
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/merge-patch+json", 200),
        ("text/plain", 422),
        ("text/json", 422),
        ("multipart/form-data", 422),
        ("application/x-www-form-urlencoded", 422),
    ],
)
def test_a_body_says_that_it_is_json(both, kind, status):
    """A page of another site can send the other kinds without asking first."""
    for client in both:
        answer = client.post("/echo", content=b'{"code": "00"}', headers={"content-type": kind})
        assert answer.status_code == status


def test_documented_alike(both):
    quick, plain = (client.app.openapi() for client in both)
    assert quick == plain and quick["components"]["schemas"]["Search"]
