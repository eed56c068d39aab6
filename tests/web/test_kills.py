"""An answer that was acknowledged is never lost, whenever the server is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import combinations

import httpx2
import pytest

from pts3h.teaching.answers import Answers
from tests.faults.conftest import tally  # noqa: F401  (a fixture)
from tests.faults.tally import Lost
from tests.web.servers import server
from tests.web.test_jobs import teach, wait

KILLS = {"short": 20, "full": 200}
CLIENTS = 3


@pytest.fixture
def victims(world, tmp_path):
    """Starts a server as often as it is asked; yields how, and the file of answers."""
    command = [sys.executable, "-m", "tests.web.victim", world.index, world.model, tmp_path / "space"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def start():
            process.stdin.write("\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield start, tmp_path / "space" / "answers.db"
        process.stdin.close()


def answer_until_killed(url, pairs, acknowledged):
    """Give one answer after the other; note those that the server has acknowledged."""
    with httpx2.Client(base_url=url, timeout=60) as client:
        for a, b, similar in pairs:
            body = {"kind": "pair", "a": a, "b": b, "similar": similar}
            try:
                answer = client.post("/api/answers", json=body)
            except httpx2.TransportError:
                return
            assert answer.status_code == 201, answer.text
            acknowledged.append((a, b, similar))


@pytest.mark.timeout(1500)
def test_no_acknowledged_answer_is_lost(victims, request, tally):  # noqa: F811
    start, path = victims
    kills, chance = (
        KILLS[request.config.getoption("--faults")],
        random.Random(request.config.getoption("--seed")),
    )
    names = [f"{number:02}.png" for number in range(60)]
    every = [(a, b, chance.random() < 0.5) for a, b in combinations(names, 2)]
    acknowledged, faults = [], tally("a server is killed while people answer")
    for kill in range(kills):
        running = start()
        shares = [every[(kill * CLIENTS + one) :: kills * CLIENTS] for one in range(CLIENTS)]
        people = [
            threading.Thread(target=answer_until_killed, args=(running["url"], share, acknowledged))
            for share in shares
        ]
        before = len(acknowledged)
        for one in people:
            one.start()
        enough = before + chance.randrange(1, 12)
        while len(acknowledged) < enough and any(one.is_alive() for one in people):
            time.sleep(0.0005)
        time.sleep(chance.random() * 0.01)
        os.kill(running["pid"], signal.SIGKILL)
        for one in people:
            one.join()
        with faults.trying(f"kill {kill}"), Answers(path) as said:
            held = {pair: one.similar for pair, one in said.standing().pairs.items()}
            missing = [one for one in acknowledged if held.get(one[:2]) != one[2]]
            if missing:
                raise Lost(f"{len(missing)} of {len(acknowledged)}")
    assert len(acknowledged) >= kills


def test_a_job_outlives_the_server(world):
    """Killed in the middle of a job, a server that is started again tells how far the job is, and uses it."""
    words = ("serve", world.index, "--model", world.model)
    with server(*words) as first:
        with httpx2.Client(base_url=first.url, timeout=60) as client:
            teach(client)
        number = first.post("/api/jobs").json()["number"]
        assert first.stop(signal.SIGKILL)[0] == -signal.SIGKILL
    with server(*words) as second, httpx2.Client(base_url=second.url, timeout=60) as client:
        assert client.get("/api/status").json()["counts"]["placed"] == 24
        assert client.get("/api/status").json()["job"]["number"] == number
        wait(client, number, "ready")
        until = time.monotonic() + 60
        while client.post(f"/api/jobs/{number}/use").status_code == 409 and time.monotonic() < until:
            time.sleep(0.1)  # the process may still be about to end
        wait(client, number, "used")
        assert client.get("/api/status").json()["generation"] == number
