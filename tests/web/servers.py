"""Real servers, each a process: started, asked, stopped, killed."""

import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2
import uvicorn

from pts3h.web.serving import bind

PROGRAM = Path(sys.executable).with_name("pts3h")


class Running:
    """A server that answers."""

    def __init__(self, process, url, lines):
        self.process, self.url, self.lines = process, url, lines

    def get(self, path, **more):
        return httpx2.get(self.url + path, timeout=60, **more)

    def post(self, path, **more):
        return httpx2.post(self.url + path, timeout=60, **more)

    def stop(self, signal, seconds=30):
        """Send a signal; the exit code and how long it took."""
        begun = time.monotonic()
        self.process.send_signal(signal)
        code = self.process.wait(seconds)
        return code, time.monotonic() - begun


@contextmanager
def server(*words, seconds=240, **more):
    """``pts3h serve`` or ``open`` on any free port, until the block ends."""
    command = [PROGRAM, *map(str, words), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **more)
    lines, url, ready = [], [], threading.Event()

    def read():
        for line in process.stderr:
            lines.append(line)
            if found := re.match(r"serving .* at (http://\S+)/;", line):
                url.append(found[1])
                ready.set()
        ready.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert ready.wait(seconds) and url, "".join(lines)
        yield Running(process, url[0], lines)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


@contextmanager
def listening(app):
    """An app of this process on a real port, without its lifespan; yields its address."""
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listener],))
    thread.start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
