"""The commands: a server that starts, says where, and stops when it is told to."""

import gc
import json
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx2
import pytest

from pts3h.web import serving
from pts3h.web.serving import bind
from tests.pictures import write_pictures
from tests.web.servers import PROGRAM, server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_stops_with_streams_open(world, number):
    """Ctrl-C and SIGTERM end it with exit code 0, though someone watches a job that never ends."""
    with server("serve", world.index, "--model", world.model) as running:
        job = world.index.with_name("photos.index.pts3h") / "jobs" / "1"
        job.mkdir(parents=True)
        (job / "progress.jsonl").write_text('{"kind": "state", "state": "ready"}\n')
        opened, ended = threading.Event(), threading.Event()

        def watch():
            with httpx2.stream("GET", running.url + "/api/jobs/1/events", timeout=60) as answer:
                for _ in answer.iter_lines():
                    opened.set()
            ended.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert opened.wait(60)
        code, _ = running.stop(number)
        assert code == 0
        assert ended.wait(60)
        watcher.join()
    answered = [json.loads(line) for line in running.lines if line.startswith("{")]
    assert any(one["path"] == "/api/jobs/1/events" and one["request"] for one in answered if "path" in one)


def test_help_brings_neither_fastapi_nor_torch():
    check = (
        "import sys; sys.argv = ['pts3h', *sys.argv[1:]]\n"
        "from pts3h.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'fastapi', 'torch', 'uvicorn'} & set(sys.modules)))"
    )
    for words in ([], ["serve", "--help"], ["open", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", check, *words], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "[]", words


def test_a_missing_extra_is_named(world, tmp_path):
    """Without the packages of the extra, one line says which extra brings them."""
    (tmp_path / "fastapi.py").write_text("raise ImportError")
    for words in (["serve", world.index], ["open", world.photos]):
        done = subprocess.run(
            [sys.executable, "-m", "pts3h", *map(str, words)],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "pip install 'pts3h[web]'" in done.stderr


def test_small_answers_are_sent_at_once():
    """asyncio switches Nagle's algorithm off only for sockets that say they are TCP."""
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_collection_does_not_look_through_what_is_loaded(client, monkeypatch):
    """Torch and all else is a quarter of a second in which nobody would be answered."""
    left = []
    monkeypatch.setattr(serving.Server, "run", lambda server, sockets: left.append(len(gc.get_objects())))
    loaded = len(gc.get_objects())
    with bind("127.0.0.1", 0) as listener:
        try:
            serving.serve(client.app.state.site, listener)
        finally:
            gc.unfreeze()
    assert left[0] < loaded / 10


def test_a_port_that_is_taken(world):
    with server("serve", world.index, "--model", world.model) as running:
        port = running.url.rpartition(":")[2]
        done = subprocess.run(
            [PROGRAM, "serve", world.index, "--model", world.model, "--port", port],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 2 and f"port {port}" in done.stderr and done.stderr.count("\n") == 1


def test_open_a_folder_that_nobody_prepared(tmp_path, monkeypatch):
    """A model without pairs, an index, the page; the second time at once, and new pictures come in."""
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "cache"))
    write_pictures(tmp_path / "photos", 12)
    (tmp_path / "photos" / "broken.png").write_text("no picture")
    with server("open", tmp_path / "photos", "--no-browser", "--bits", "8", "--look-bits", "8") as running:
        assert running.lines[0].startswith("opening ")
        status = running.get("/api/status").json()
        assert (status["items"], status["bits"], status["look_bits"]) == (12, 8, 8)
        assert status["name"] == "photos" and status["teach"] and status["generation"] == 1
        assert str(tmp_path) not in running.get("/api/items").text
        assert running.stop(signal.SIGINT)[0] == 0
    write_pictures(tmp_path / "more", 3, seed=5)
    for number, path in enumerate((tmp_path / "more").iterdir()):
        path.rename(tmp_path / "photos" / f"new{number}.png")
    (tmp_path / "photos" / "00.png").unlink()
    with server("open", tmp_path / "photos", "--no-browser") as running:
        until = time.monotonic() + 200
        while running.get("/api/status").json()["items"] != 14:
            assert time.monotonic() < until, running.lines
            time.sleep(0.2)
        names = [item["id"] for item in running.get("/api/items").json()["items"]]
        assert "new2.png" in names and "00.png" not in names
