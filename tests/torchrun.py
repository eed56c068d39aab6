"""Starting torchrun on this machine: two processes that talk over the loopback address."""

import os
import signal
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LONG = 1500  # seconds: the machine may be busy


def start(*words, cwd=None, count=2, options=()):
    """``torchrun WORDS`` in a session of its own, on a port that the system chooses."""
    path = os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
    more = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}"]
    return subprocess.Popen(
        [*torchrun, *options, *map(str, words)],
        cwd=cwd,
        env=os.environ | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(running):
    """What it printed on either stream; whatever is left of it after a long time is killed."""
    try:
        return running.communicate(timeout=LONG)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()


def spoken(text):
    """The lines that pts3h said."""
    return [line for line in text.splitlines() if line.startswith("pts3h: ")]


def rank_processes(running):
    """The process of each rank, by its number."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if parent == running.pid:
                named = dict(
                    one.split(b"=", 1) for one in place.joinpath("environ").read_bytes().split(b"\0") if one
                )
                found[int(named[b"RANK"])] = int(place.name)
        except (OSError, KeyError):  # it has ended, or is not one of ours
            continue
    return found
