"""A process that has imported everything and forks victims, each of which does one task and may be killed.

A start of Python with torch takes seconds, a fork milliseconds. ``python -m tests.faults.zygote`` reads one
order a line and answers each with one line.
"""

import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.faults.shim import Fault, loaded
from tests.faults.tally import Hung

LIMIT = 120.0  # seconds after which a victim counts as hung; none needs more than a few
PROJECT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """How a victim ended.

    Attributes:
        killed: by kill -9.
        said: what it said on its way.
        returned: what its task returned, if it did.
        refused: the line of its UserError.
        raised: any other error, with its traceback.
        seen: calls that the shim counted.
        seconds: how long it lived.
    """

    killed: bool = False
    said: list = field(default_factory=list)
    returned: object = None
    refused: str | None = None
    raised: str | None = None
    seen: int = 0
    seconds: float = 0.0

    @property
    def finished(self):
        return not self.killed and self.refused is None and self.raised is None


class Zygote:
    """The process, and orders to it."""

    def __init__(self, library):
        self._environment = os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()

    def run(self, task, *arguments, fault=None, below=None, kill_after=None, memory=None, limit=LIMIT):
        """Let a victim do a task of ``tests.faults.tasks``.

        Args:
            task: name of the function.
            arguments: for it; plain values.
            fault: of the disk, below the folder ``below``.
            below: see there.
            kill_after: seconds until kill -9.
            memory: bytes that it may take beyond what it begins with.
            limit: seconds until it counts as hung.
        """
        if self._process is None:
            command = [sys.executable, "-m", "tests.faults.zygote"]
            self._process = subprocess.Popen(
                command, cwd=PROJECT, env=self._environment, text=True, stdin=-1, stdout=-1
            )
        order = {
            "task": task,
            "arguments": [str(one) if isinstance(one, Path) else one for one in arguments],
            "fault": None if fault is None else asdict(fault),
            "below": str(below),
            "kill_after": kill_after,
            "memory": memory,
            "limit": limit,
            "environment": {name: os.environ[name] for name in ("PTS3H_CACHE", "TORCH_HOME")},
        }
        print(json.dumps(order), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        if answer.pop("hung"):
            raise Hung(f"{task} took more than {limit} s; it said {answer['said'][-3:]}")
        return Outcome(**answer)


def main():
    importlib.import_module("tests.faults.tasks").warm_up()
    for line in sys.stdin:
        print(json.dumps(carry_out(json.loads(line))), flush=True)


def carry_out(order):
    """Fork a victim, listen to it, kill it when its time has come."""
    ears, mouth = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(ears)
        be_victim(order, mouth)
    os.close(mouth)
    ends = began + order["limit"]
    dies = ends if order["kill_after"] is None else min(ends, began + order["kill_after"])
    heard, hung, killed = b"", False, False
    while True:
        left = None if killed else max(0.0, dies - time.monotonic())  # what it said last is still to be heard
        ready, _, _ = select.select([ears], [], [], left)
        if not ready:
            os.kill(child, signal.SIGKILL)
            hung, killed = dies == ends, True
            continue
        if not (more := os.read(ears, 1 << 16)):
            break
        heard += more
    os.close(ears)
    status = os.waitpid(child, 0)[1]
    answer = {"said": [], "hung": hung, "seconds": time.monotonic() - began}
    for line in heard.split(b"\n")[:-1]:  # the last one may be torn
        word = json.loads(line)
        if isinstance(word, dict):
            answer |= word
        else:
            answer["said"].append(word)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    answer["killed"] = number == signal.SIGKILL
    if number not in (0, signal.SIGKILL):
        answer["raised"] = f"died of signal {number} after {answer['said'][-1:]}"
    return answer


def be_victim(order, mouth):
    """Do the task, say how it ended, and end."""
    from pts3h.errors import UserError
    from tests.faults import tasks

    def say(word):
        os.write(mouth, json.dumps(word).encode() + b"\n")

    os.environ.update(order["environment"])
    with suppress(BaseException):
        try:
            if order["memory"] is not None:
                limit_memory(order["memory"])
            if order["fault"] is not None:
                Fault(**order["fault"]).arm(order["below"])
            returned = getattr(tasks, order["task"])(*order["arguments"], say=say)
            say({"returned": returned, "seen": loaded().faults_seen()})
        except UserError as error:
            say({"refused": str(error), "seen": loaded().faults_seen()})
        except BaseException:
            say({"raised": traceback.format_exc()[-2000:], "seen": loaded().faults_seen()})
    os._exit(0)


def limit_memory(more):
    """Let this process take so many bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
