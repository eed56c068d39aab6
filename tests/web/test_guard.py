"""Who may ask: names of the server, other sites, tokens; and what no answer ever says."""

import io
import json
import logging
import socket

import pytest
from PIL import Image

import pts3h
from pts3h.errors import UserError
from pts3h.web import guard
from pts3h.web.errors import without_paths
from pts3h.web.guard import Access
from pts3h.web.logs import JsonLines
from pts3h.web.opening import read_token
from tests.web.test_limits import refused

TOKEN = "correct horse battery staple"
SHOWN = {"authorization": f"Bearer {TOKEN}"}
PAIR = {"kind": "pair", "a": "00.png", "b": "01.png", "similar": True}
READS = ["/api/status", "/api/items", "/api/thumbnail?id=00.png", "/metrics", "/openapi.json", "/api/answers"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.x", ""]
)
def test_other_names_are_refused(client, host):
    """A page that makes its own name lead here (rebinding) still sends that name."""
    refused(client.get("/api/status", headers={"host": host}), 421, "wrong_host")


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine(client, host):
    assert client.get("/api/status", headers={"host": host}).status_code == 200


def test_a_name_that_is_allowed(start):
    client = start(access=Access(hosts=frozenset({"photos.example"})))
    assert client.get("/api/status", headers={"host": "photos.example:443"}).status_code == 200
    refused(client.get("/api/status", headers={"host": "other.example"}), 421, "wrong_host")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_change_nothing(client, headers):
    for path, body in [("/api/answers", PAIR), ("/api/jobs", None), ("/api/search", {"like": ["00.png"]})]:
        refused(client.post(path, json=body, headers=headers), 403, "forbidden")
    assert client.get("/api/answers").json()["counts"]["answers"] == 0
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert client.post("/api/answers", json=PAIR, headers=own).status_code == 201


def test_no_site_is_let_in(client):
    """CORS is off: no answer has a header that lets another site read it."""
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    for answer in (
        client.options("/api/answers", headers=asked),
        client.get("/api/status", headers={"origin": "https://evil.example"}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_token_for_writes(start, caplog):
    client = start(access=Access(token=TOKEN))
    assert client.get("/api/status").json()["writes"] == "token"
    assert all(client.get(path).status_code == 200 for path in READS)
    assert client.post("/api/search", json={"like": ["00.png"]}).status_code == 200
    writes = [
        ("POST", "/api/answers"),
        ("POST", "/api/answers/undo"),
        ("POST", "/api/answers/import"),
        ("PATCH", "/api/groups/1"),
        ("POST", "/api/groups/1/merge"),
        ("POST", "/api/jobs"),
        ("DELETE", "/api/jobs/1"),
        ("POST", "/api/jobs/1/use"),
        ("POST", "/api/generations/back"),
    ]
    for method, path in writes:
        answer = refused(client.request(method, path), 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    for wrong in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff\xfe"):
        answer = client.post("/api/answers", json=PAIR, headers={"authorization": wrong.encode("latin-1")})
        refused(answer, 401, "unauthorized")
    assert client.post("/api/answers", json=PAIR, headers=SHOWN).status_code == 201


def test_a_token_for_everything(start):
    client = start(access=Access(token=TOKEN, protect="all"))
    for path in READS:
        refused(client.get(path), 401, "unauthorized")
        assert client.get(path, headers=SHOWN).status_code == 200
    refused(client.post("/api/search", json={"like": ["00.png"]}), 401, "unauthorized")
    for path in ("/healthz", "/readyz", "/"):
        assert client.get(path).status_code == 200


def test_a_cookie_instead_of_a_token(start):
    """Pictures and streams cannot carry a token, so a browser exchanges it once."""
    client = start(access=Access(token=TOKEN, protect="all"))
    refused(client.post("/api/session", json={"token": "wrong"}), 401, "unauthorized")
    refused(client.get("/api/thumbnail?id=00.png", headers={"cookie": "pts3h=wrong"}), 401, "unauthorized")
    answer = client.post("/api/session", json={"token": TOKEN})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
    assert client.get("/api/thumbnail?id=00.png").status_code == 200  # the client keeps it


def test_tokens_are_compared_in_constant_time(start, monkeypatch):
    compared = []
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda one, other: compared.append((one, other)))
    client = start(access=Access(token=TOKEN))
    refused(client.post("/api/answers", json=PAIR, headers=SHOWN), 401, "unauthorized")
    assert compared == [(TOKEN.encode(), TOKEN.encode())]


def test_read_only(start):
    client = start(access=Access(token=TOKEN, read_only=True))
    assert client.get("/api/status").json()["writes"] == "closed"
    refused(client.post("/api/answers", json=PAIR, headers=SHOWN), 403, "read_only")
    assert client.post("/api/search", json={"like": ["00.png"]}).status_code == 200


def test_tokens_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    assert read_token(None) is None
    monkeypatch.setenv("PTS3H_TOKEN", TOKEN)
    assert read_token(None) == TOKEN
    (tmp_path / "token").write_text(f"{TOKEN[::-1]}\n")
    assert read_token(tmp_path / "token") == TOKEN[::-1]
    (tmp_path / "token").write_text("short")
    for path in (tmp_path / "token", tmp_path / "none"):
        with pytest.raises(UserError) as error:
            read_token(path)
        assert "short" not in str(error.value)


def test_no_log_has_a_secret_or_a_name(start, caplog):
    client = start(access=Access(token=TOKEN))
    caplog.set_level(logging.INFO, "pts3h.web")
    client.post("/api/answers?who=me", json=PAIR, headers=SHOWN)
    client.get("/api/item?id=00.png")
    text = "\n".join(JsonLines().format(record) for record in caplog.records)
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["path"] for line in lines] == ["/api/answers", "/api/item"]
    assert all(line["request"] and line["status"] and line["ms"] >= 0 for line in lines)
    assert TOKEN not in text and "00.png" not in text and TOKEN not in repr(Access(token=TOKEN))


def test_browsers_are_told_to_be_careful(client):
    answers = [client.get(path) for path in ("/", "/api/status", "/api/nothing", "/api/thumbnail?id=00.png")]
    answers += [client.get("/", headers={"host": "evil.example"}), client.post("/api/search", content=b"{")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert (
            "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "..", "file:///etc/passwd", "http://localhost/a.png", "a\0b", "\x7f"],
)
@pytest.mark.parametrize("path", ["/api/thumbnail", "/api/picture", "/api/item"])
def test_pictures_by_id_alone(client, path, name):
    answer = client.get(path, params={"id": name})
    assert answer.status_code in (404, 422), answer.text
    assert "/etc" not in answer.text


def test_a_picture_that_is_not_the_one_that_was_indexed(start, world, tmp_path):
    """Metadata can name any file of this machine; without the stamp of that very file it is not shown."""
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    with pts3h.open_index(world.index) as index:
        (item,) = index.get(["00.png"])
        index.add(["x"], [item.code], meta=[{"_path": str(tmp_path / "secret.png"), "_stamp": "1-1"}])
    client = start()
    refused(client.get("/api/thumbnail?id=x"), 404, "not_found")
    details = client.get("/api/item?id=x").json()
    assert (details["picture"], details["width"], details["path_shown"]) == (False, None, "secret.png")


def test_no_address_is_ever_fetched(client, monkeypatch):
    """Nothing that a client sends makes the server open a connection."""
    opened = []
    connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda *one: opened.append(one[1]) or connect(*one))
    url = "http://127.0.0.1:9/a.png"
    client.post("/api/search/picture", content=url.encode(), headers={"content-type": "image/png"})
    client.post("/api/search", json={"like": [url]})
    client.get("/api/thumbnail", params={"id": url})
    assert opened == []


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"]
)
def test_static_files_alone(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 405) and answer.json()["code"] in ("not_found", "not_allowed")


def everything(client):
    """What every route says, right or wrong."""
    paths = client.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method in methods:
            for query in ("", "?id=00.png", "?id=none"):
                yield client.request(method.upper(), path.replace("{number}", "1") + query, json={})
    yield client.get("/nothing")


def test_no_answer_names_a_place_of_this_machine(client, world, tmp_path):
    roots = {str(tmp_path), str(world.photos.parent), "/usr", "/home", "site-packages", "Traceback"}
    for answer in everything(client):
        assert not [root for root in roots if root in answer.text], answer.text


def test_what_the_library_says_of_files_stays_inside(start, world, monkeypatch, caplog):
    """Its messages name files. A client hears that something is wrong, the log says what."""
    client = start()
    place = str(world.index)

    def broken(*given, **more):
        raise UserError(f"the index {place} was replaced")

    monkeypatch.setattr(type(client.app.state.site.collection.current.index), "get", broken)
    answer = refused(client.get("/api/item?id=00.png"), 503, "unavailable")
    assert place not in answer.text and place in caplog.text


def test_a_bug_is_no_traceback(client, monkeypatch, caplog):
    monkeypatch.setattr(client.app.state.site, "catalogue", None)
    answer = refused(client.get("/api/items"), 500, "internal")
    assert "NoneType" not in answer.text and "NoneType" in caplog.text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/home/me/my photos/a.png: broken", "...: broken"),
        ("cannot read '/x/y z.png' (a/b)", "cannot read '...' (a/b)"),
        ("C:\\Users\\me: no", "...: no"),
        ("3 of 4 pictures (3/4) are photos/a.png", "3 of 4 pictures (3/4) are photos/a.png"),
    ],
)
def test_messages_without_places(said, told):
    assert without_paths(said) == told


def test_names_are_data(start, world):
    """A name that is markup is sent as JSON, as it is, and no browser takes it for a page."""
    name = "<script>alert(1)</script>.png"
    with pts3h.open_index(world.index) as index:
        (item,) = index.get(["00.png"])
        index.add([name], [item.code], meta=[{"note": "<b>"}])
    client = start()
    answer = client.get("/api/item", params={"id": name})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["id"] == name and answer.json()["meta"] == {"note": "<b>"}


def test_what_cameras_write_stays_inside(start, world, tmp_path):
    """Pictures are made anew: where a photo was taken is not in them."""
    image, exif = Image.new("RGB", (40, 30), "blue"), Image.Exif()
    exif[0x010F] = "SecretCamera"
    image.save(tmp_path / "gps.jpg", exif=exif)
    with pts3h.open_index(world.index) as index:
        (item,) = index.get(["00.png"])
        state = (tmp_path / "gps.jpg").stat()
        stamp = f"{state.st_size}-{state.st_mtime_ns}"
        index.add(["gps"], [item.code], meta=[{"_path": str(tmp_path / "gps.jpg"), "_stamp": stamp}])
    answer = start().get("/api/picture?id=gps")
    assert b"SecretCamera" not in answer.content
    assert Image.open(io.BytesIO(answer.content)).size == (40, 30)
