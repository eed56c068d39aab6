"""A real Milvus server for tests and benchmarks: installed on first use, and stopped with its caller.

with running_server() as server: ...                       # "127.0.0.1:port"; TOKEN opens it
python -m tests.index.milvus.server python program.py     # a program with MILVUS_URI and MILVUS_TOKEN set
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pts3h.cache.locks import locked
from pts3h.util.files import cache_folder

from ..guard import free_port, start_guarded

VERSION = "2.3.5"
TOKEN = "root:Milvus"  # what every new Milvus server starts with
START_SECONDS = 120

# Milvus takes any setting from the environment. Short ticks make "Strong" reads cost 20 ms instead of 200,
# and short check intervals save a second per new collection. Its parts talk over the loopback only.
SETTINGS = {
    "PROXY_TIMETICKINTERVAL": "10",
    "QUERYCOORD_CHECKCHANNELINTERVAL": "50",
    "QUERYCOORD_CHECKSEGMENTINTERVAL": "50",
    "QUERYCOORD_DISTPULLINTERVAL": "50",
    "QUERYCOORD_LEADERVIEWUPDATEINTERVAL": "0.1",
    "COMMON_SECURITY_AUTHORIZATIONENABLED": "true",
    "LOG_LEVEL": "error",
}
PARTS = ("PROXY", "ROOTCOORD", "DATACOORD", "DATANODE", "QUERYCOORD", "QUERYNODE", "INDEXCOORD", "INDEXNODE")
SETTINGS |= {f"{part}_IP": "127.0.0.1" for part in PARTS}


def installed_server() -> Path:
    """The Python of a venv with the server in it, in the project's cache; made on first use."""
    folder = cache_folder("milvus-server") / VERSION
    if not folder.exists():
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
        venv.create(unfinished, with_pip=True)
        needs = [f"milvus=={VERSION}", "setuptools<81"]
        subprocess.run([unfinished / "bin" / "python", "-m", "pip", "install", "--quiet", *needs], check=True)
        try:
            unfinished.rename(folder)
        except OSError:  # another run was quicker
            shutil.rmtree(unfinished)
    return folder / "bin" / "python"


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server on a free port with an empty data folder; yields ``host:port``."""
    python, data = installed_server(), Path(tempfile.mkdtemp(prefix="milvus-"))
    # each part looks for a free port and takes it a moment later: one server at a time may do that
    with locked(Path(tempfile.gettempdir()) / f"pts3h-milvus-start-{os.getuid()}.lock"):
        guard, address = start_server(python, data)
    try:
        yield address
    finally:
        guard.communicate()
        shutil.rmtree(data, ignore_errors=True)  # what the server wrote in its last moment


def start_server(python: Path, data: Path) -> tuple[subprocess.Popen[bytes], str]:
    """The process that guards the server, once it answers, and its address."""
    port, health_port = free_port(), free_port()
    command = [
        python,
        "-c",
        f"import milvus; milvus.default_server.webservice_port = {health_port}; milvus.main()",
        "--data",
        data,
        "--proxy-port",
        str(port),
    ]
    guard = start_guarded(command, data, settings=SETTINGS)
    try:
        wait_until_healthy(health_port, data)
    except BaseException:
        guard.communicate()
        raise
    return guard, f"127.0.0.1:{port}"


def wait_until_healthy(health_port: int, data: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{health_port}/healthz", timeout=5) as answer:
                if answer.read() == b"OK":
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"Milvus did not start: {(data / 'launcher.log').read_text()[-2000:]}")


if __name__ == "__main__":
    with running_server() as server:
        environment = os.environ | {"MILVUS_URI": f"http://{server}", "MILVUS_TOKEN": TOKEN}
        sys.exit(subprocess.run(sys.argv[1:], env=environment).returncode)
