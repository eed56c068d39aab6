"""Real servers for tests and benchmarks: they end with their caller, however that ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# A server would outlive a killed test run. This program ends the server, its data and itself as soon as the
# pipe to its parent closes.
GUARD = """
import os, shutil, signal, subprocess, sys
data, farewell, user, *command = sys.argv[1:]
other = {"user": int(user), "group": int(user), "extra_groups": []} if user else {}
server = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=data, **other)
sys.stdin.buffer.read()
try:
    server.send_signal(int(farewell))
    server.wait(30)
finally:
    shutil.rmtree(data, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
"""


def start_guarded(
    command: Sequence[str | Path],
    data: Path,
    *,
    settings: Mapping[str, str] | None = None,
    farewell: int = signal.SIGKILL,
    user: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a server; ``communicate()`` on what is returned ends it.

    Args:
        command: the server's.
        data: its folder, which is removed at the end; it gets the server's output as ``launcher.log``.
        settings: more environment variables.
        farewell: the signal that ends it. Nobody needs the data, so it need not be gentle.
        user: number of the user to run as; by default, the caller.
    """
    guard = [sys.executable, "-c", GUARD, data, str(int(farewell)), "" if user is None else str(user)]
    with (data / "launcher.log").open("wb") as log:
        return subprocess.Popen(
            [*guard, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=os.environ | (settings or {}),
            start_new_session=True,
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
