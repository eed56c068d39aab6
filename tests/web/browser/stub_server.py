"""The made-up collection over HTTP, as the contract says.

python -m tests.web.browser.stub_server --items 10000 --port 8099
"""

import argparse
import json
import socket
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np

from tests.web.browser.stub import FIGURES, Stub, picture

STATIC = Path(__file__).parents[3] / "src/pts3h/web/static"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
POLICY = "default-src 'self'; img-src 'self' blob: data:"
# Seconds before a request is carried out, and again before its answer is sent: a test that does not wait for
# what it looks at fails on every machine, not only now and then on a busy one.
LATE = 0.05


class Handler(BaseHTTPRequestHandler):
    """The contract, in one place."""

    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, *_):
        pass

    def reply(self, body, status=200, kind="application/json", headers=()):
        if kind == "application/json":
            time.sleep(LATE)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def is_let_in(self):
        shown = self.headers.get("Authorization") == f"Bearer {self.stub.token}"
        return shown or "pts3h=yes" in self.headers.get("Cookie", "")

    def handle_any(self):
        url = urlsplit(self.path)
        path, asked = url.path, {name: values[-1] for name, values in parse_qs(url.query).items()}
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path == "/" or path.startswith("/static/"):
            file = STATIC / (path.removeprefix("/static/") if path != "/" else "index.html")
            self.reply(file.read_bytes(), kind=TYPES[file.suffix], headers=[("Cache-Control", "no-cache")])
        elif path in self.stub.broken:
            status, body = self.stub.broken[path]
            self.reply(body, status)
        elif path == "/api/session":
            right = json.loads(content)["token"] == self.stub.token
            self.reply(
                {"status": "ok"},
                200 if right else 401,
                headers=[("Set-Cookie", "pts3h=yes")] if right else (),
            )
        elif self.stub.token and not self.is_let_in():
            self.reply({"error": "this server asks for a token", "code": "unauthorized"}, 401)
        elif path in ("/api/thumbnail", "/api/picture"):
            at = self.stub.place[asked["id"]]
            size = int(asked.get("size", 900))
            body = picture(int(self.stub.kinds[at]), at % 97, size)
            self.reply(body, kind="image/jpeg", headers=[("Cache-Control", "max-age=600")])
        elif path.endswith("/events"):
            self.stream()
        else:
            time.sleep(LATE)
            with self.stub.lock:
                self.answer(path, asked, content, parse_qs(url.query).get("skip", []))

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def answer(self, path, asked, content, skip):
        stub = self.stub
        is_picture = path == "/api/search/picture"
        body = json.loads(content) if content and not is_picture else {}
        parts = path.split("/")
        if path == "/api/status":
            self.reply(stub.status())
        elif path == "/api/items":
            names, start = asked.get("names", "").lower(), int(asked["offset"])
            found = (
                [at for at in range(stub.count) if names in stub.ids[at].lower()]
                if names
                else range(stub.count)
            )
            page = [stub.item(at) for at in found[start : start + int(asked["limit"])]]
            self.reply({"total": len(found), "offset": start, "items": page})
        elif path == "/api/item":
            at = stub.place[asked["id"]]
            self.reply(
                {**stub.item(at), "code": stub.hex(at), "width": 4000, "height": 3000, "bytes": 2_345_678}
                | {"path_shown": stub.ids[at], "group": None, "group_name": None}
            )
        elif is_picture:
            code = np.random.default_rng(list(content[-8:])).permutation(
                stub.codes[len(content) % stub.count]
            )
            hits = stub.hits(code, {"k": int(asked["k"]), "by": asked["by"]})
            self.reply({**hits, "query": {"token": np.packbits(code).tobytes().hex()}})
        elif path == "/api/search":
            code = stub.bits_of(body["code"]) if "code" in body else stub.codes[stub.place[body["like"][0]]]
            self.reply(stub.hits(code, body))
        elif path == "/api/explain":
            self.reply(stub.explain(body))
        elif path == "/api/duplicates":
            self.reply(stub.duplicates(asked))
        elif path == "/api/answers":
            said = {"answer": stub.answer(body), "counts": stub.counts()}
            self.reply(said | ({"next": stub.question(asked["next"], [])} if "next" in asked else {}), 201)
        elif path == "/api/answers/undo":
            if not stub.events:
                self.reply({"error": "there is nothing to take back", "code": "not_found"}, 404)
            else:
                self.reply({"answer": stub.undo(), "counts": stub.counts()})
        elif path == "/api/answers.csv":
            self.reply(b"a,b,similar\r\n", kind="text/csv")
        elif path == "/api/questions/next":
            self.reply(stub.question(asked["mode"], skip))
        elif parts[2] == "groups":
            self.change_group(parts, body)
        elif path == "/api/jobs":
            self.reply(stub.new_job(), 202)
        elif parts[2] == "jobs":
            self.change_job(parts)
        elif path == "/api/generations/back":
            stub.generation -= 1
            self.reply({"generation": stub.generation})
        else:
            self.reply({"error": "no such thing", "code": "not_found"}, 404)

    def change_group(self, parts, body):
        stub = self.stub
        if len(parts) > 3:
            number = int(parts[3])
            if parts[-1] == "merge":
                stub.groups[body["into"]] += stub.groups.pop(number)
            elif parts[-1] == "split":
                stub.groups[number] = [one for one in stub.groups[number] if one not in body["items"]]
                stub.groups[max(stub.groups) + 1] = body["items"]
            else:
                stub.names[number] = body["name"]
        self.reply(stub.group_list())

    def change_job(self, parts):
        job = self.stub.job
        if self.command == "DELETE":
            job["state"] = "cancelled"
        elif parts[-1] == "compare":
            self.reply(self.stub.compare())
            return
        elif parts[-1] == "use":
            job["state"] = "used"
            job["figures"] = FIGURES
            self.stub.generation += 1
        elif parts[-1] == "keep-old":
            job["state"] = "kept_old"
        self.reply(job)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        job = self.stub.job
        first = int(self.headers.get("Last-Event-ID") or 0)
        for step in range(max(first, 0) + 5, job["steps"] + 1, 5):
            if job["state"] != "training":
                break
            job.update(step=step, seconds_left=(job["steps"] - step) * 0.04)
            losses = {"known pairs": 0.9 * 0.98**step + 0.1, "neighbours": 0.4 * 0.99**step + 0.2}
            held = 0.8 + 0.1 * step / 200 if step % 20 == 0 else None
            self.event("progress", step, job | {"losses": losses, "thr": 0.9 - step / 900, "held_out": held})
            time.sleep(0.03)
        if job["state"] == "training":
            job["state"] = "ready"
        self.event("state", job["step"] + 1, job)
        self.close_connection = True

    def event(self, name, number, data):
        self.wfile.write(f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()


class QuietServer(ThreadingHTTPServer):
    """Threads that end with the process; a browser that goes away is no error."""

    daemon_threads = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.connections = []

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def stop(self):
        """As a process that is killed: also connections that are kept open end."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def serve(stub, port=0):
    """A running server; ``server_port`` says where."""
    server = QuietServer(("127.0.0.1", port), type("OneStub", (Handler,), {"stub": stub}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--port", type=int, default=8099)
    arguments = parser.parse_args()
    serve(Stub(arguments.items), arguments.port)
    threading.Event().wait()
