"""The server under load: 50 clients search over HTTP while a job trains and items are added; then lookups.

    python benchmarks/serve_load.py [--n 100000] [--seconds 10] [--rounds 5] [--clients 50]
                                    [--added 512] [--every 5] [--million 1000000]

The first part fails if a request fails, or if a search of one of 50 people takes more than five times as long
(p99) as a search on the idle server (median). Both are measured in turns, since a machine that others use too
may be twice as slow a moment later, and all requests of all rounds count together. People pause between two
searches; without a pause, 50 clients share what the cores can do, and p99 is told beside their own median.
Items are added as ``pts3h index`` adds them, 512 at a time, and faster than two cores encode pictures. The
second part fails if one worker answers fewer than 1,000 lookups by code a second.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
from PIL import Image

import pts3h
from pts3h.data.items import read_items
from pts3h.indexing import index_items
from pts3h.teaching.answers import Answers

PICTURES, KINDS = 300, 3  # what the job trains on; other items have codes by chance
BITS = LOOK = 64
K, PAUSE = 24, 1.0  # hits, seconds between two searches of a person
BATCH, RADIUS = 100, 8  # codes in a request of the second part, and how far they look
MOST_RATIO, LEAST_LOOKUPS = 5.0, 1_000
PROGRAM = Path(sys.executable).with_name("pts3h")


@dataclass
class Timed:
    """How long requests took, in seconds, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def at(self, percent: float) -> float:
        """A percentile in milliseconds."""
        return float(1e3 * np.percentile(self.seconds, percent)) if self.seconds else float("nan")

    def line(self, name: str, passed: float) -> str:
        marks = " ".join(f"{self.at(percent):>9.2f}" for percent in (50, 90, 99, 100))
        rate = len(self.seconds) / passed
        return f"{name:<34} {len(self.seconds):>8,} {rate:>9,.0f} {marks} {len(self.errors):>9}"


def together(rounds: list[Timed]) -> Timed:
    """The requests of all rounds."""
    return Timed([one for some in rounds for one in some.seconds])


HEADER = f"{'milliseconds':<34} {'requests':>8} {'per s':>9} " + " ".join(
    f"{name:>9}" for name in ("median", "p90", "p99", "most", "errors")
)


class Connection:
    """One kept connection, with as little of HTTP as it takes, so that the client costs little."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and content."""
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", answer)
        content = await self.reader.readexactly(int(found[1]) if found else 0)
        return int(answer[9:12]), content

    def close(self) -> None:
        self.writer.close()


async def person(port: int, until: float, pause: float, seed: int, codes: list[str], timed: Timed) -> None:
    """Search again and again for items that are there."""
    chance, connection = random.Random(seed), Connection(port)
    await connection.open()
    await asyncio.sleep(chance.random() * pause)
    while time.monotonic() < until:
        code = chance.choice(codes)
        begun = time.perf_counter()
        status, content = await connection.post("/api/search", json.dumps({"code": code, "k": K}).encode())
        timed.seconds.append(time.perf_counter() - begun)
        hits = json.loads(content).get("hits", [])
        if status != 200 or len(hits) != K or hits[0]["distance"] != 0:
            timed.errors.append(f"{status}: {content[:200]!r}")
        await asyncio.sleep(pause * 2 * chance.random())
    connection.close()


async def lookup(port: int, until: float, size: int, seed: int, codes: list[str], timed: Timed) -> None:
    """Look up codes, so many in a request."""
    chance, connection = random.Random(seed), Connection(port)
    await connection.open()
    while time.monotonic() < until:
        asked = chance.choices(codes, k=size)
        body = {"codes": asked} if size > 1 else {"code": asked[0]}
        begun = time.perf_counter()
        status, content = await connection.post(
            "/api/search", json.dumps({**body, "k": 10, "radius": RADIUS, "brief": True}).encode()
        )
        timed.seconds.append(time.perf_counter() - begun)
        answer = json.loads(content)
        results = answer.get("results", [answer])
        if status != 200 or any(not one.get("hits") or one["hits"][0]["distance"] for one in results):
            timed.errors.append(f"{status}: {content[:200]!r}")
    connection.close()


def in_process(work: str, *given: object) -> Timed:
    """Run clients in a process of their own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(clients, (work, given))


def clients(work: str, given: tuple[object, ...]) -> Timed:
    """Several clients at once, for so long."""
    port, seconds, count, setting, codes = given
    timed, act = Timed(), {"person": person, "lookup": lookup}[work]

    async def all_of_them() -> None:
        until = time.monotonic() + float(str(seconds))
        await asyncio.gather(
            *(act(port, until, setting, seed, codes, timed) for seed in range(int(str(count))))  # type: ignore[arg-type]
        )

    asyncio.run(all_of_them())
    return timed


def make_model(folder: Path) -> pts3h.Model:
    """Pictures of three colours and a model of them; a job of it trains for long."""
    rng = np.random.default_rng(0)
    (folder / "photos").mkdir()
    for number in range(PICTURES):
        pixels = rng.integers(0, 60, (32, 32, 3))
        pixels[..., number % KINDS] += 150
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "photos" / f"{number:06}.png")
    settings = {"backbone": "small", "freeze": True, "image_size": 32, "views": 1, "steps": 20_000}
    quick = pts3h.Hasher(bits=BITS, look_bits=LOOK, **{**settings, "steps": 5})  # type: ignore[arg-type]
    quick.fit(folder / "photos", check=False, progress=False)
    quick.model.asked = {**quick.model.asked, "steps": settings["steps"]}
    quick.save(folder / "model")
    return quick.model


def make_index(folder: Path, model: pts3h.Model, n: int) -> list[str]:
    """An index of the pictures and of codes by chance; some of the codes, in hexadecimal."""
    rng, layout = np.random.default_rng(1), model.layout
    codes = rng.integers(0, 256, (n, layout.bits // 8), np.uint8)
    address = folder / f"{n}.index"
    with pts3h.open_index(address, layout.meaning, look_bits=layout.look, model=model.fingerprint) as index:
        index_items(model, read_items(folder / "photos"), index, progress=False)
        for start in range(0, n, 50_000):
            some = range(start, min(start + 50_000, n))
            index.add([f"x{one:08}" for one in some], codes[some.start : some.stop])
    return [code.tobytes().hex() for code in codes[rng.choice(n, min(n, 20_000), replace=False)]]


@contextlib.contextmanager
def serving(index: Path, model: Path) -> Iterator[tuple[int, int]]:
    """A real server; yields its port and its process."""
    command = [str(PROGRAM), "serve", str(index), "--model", str(model), "--port", "0"]
    with (
        (index.parent / "server.log").open("w") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log) as process,
    ):
        try:
            while not (found := re.search(r"at http://[^:]+:(\d+)/;", Path(log.name).read_text())):
                if process.poll() is not None:
                    sys.exit(Path(log.name).read_text())
                time.sleep(0.1)
            yield int(found[1]), process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def post(port: int, path: str) -> Any:
    """The answer to a POST without a body."""
    with urlopen(Request(f"http://localhost:{port}{path}", method="POST")) as answer:
        return json.load(answer)


def teach(workspace: Path) -> None:
    """Put all pictures into groups, so that there is something to train on."""
    with Answers(workspace / "answers.db") as answers:
        groups = [answers.place(f"{kind:06}.png", None, new=True).group for kind in range(KINDS)]
        for number in range(KINDS, 60):
            answers.place(f"{number:06}.png", groups[number % KINDS])


def add_items(address: str, added: int, every: float) -> None:
    """Another process adds so many items every so many seconds."""
    rng, number = np.random.default_rng(2), 0
    with pts3h.open_index(address) as index:
        while True:
            codes = rng.integers(0, 256, (added, index.bits // 8), np.uint8)
            index.add([f"y{number + one:08}" for one in range(added)], codes)
            number += added
            time.sleep(every)


def under_load(folder: Path, model: pts3h.Model, asked: argparse.Namespace) -> list[str]:
    """The first part; what is wrong."""
    codes = make_index(folder, model, asked.n)
    address = folder / f"{asked.n}.index"
    teach(address.with_name(f"{address.name}.pts3h"))
    print(f"\n{asked.n:,} items, k = {K}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n{HEADER}")
    wrong: list[str] = []
    with serving(address, folder / "model") as (port, server):
        in_process("person", port, 3.0, 1, 0.0, codes)  # everything is read
        job = post(port, "/api/jobs")
        while True:
            time.sleep(0.5)
            state = get(port, f"/api/jobs/{job['number']}")
            if state["state"] == "training" and state["step"] > 10:
                break
            if state["state"] in ("failed", "cancelled", "ready"):
                return [f"the job ended: {state}"]
        given = str(address), asked.added, asked.every
        adder = multiprocessing.get_context("spawn").Process(target=add_items, args=given, daemon=True)
        adder.start()
        (training,) = children_of(server)
        assert adder.pid is not None

        def phase(name: str, count: int, pause: float) -> Timed:
            timed = in_process("person", port, asked.seconds, count, pause, codes)
            print(timed.line(name, asked.seconds), flush=True)
            wrong.extend(timed.errors[:1])
            return timed

        idle, alone, loaded = [], [], []
        for _ in range(asked.rounds):
            with stopped(training, adder.pid):
                idle.append(phase("1 person, idle", 1, 0.02))
                alone.append(phase(f"{asked.clients} people", asked.clients, PAUSE))
            loaded.append(phase(f"{asked.clients} people, a job, items added", asked.clients, PAUSE))
        crowd = phase(f"{asked.clients} without a pause, likewise", asked.clients, 0.0)
        still, items = get(port, f"/api/jobs/{job['number']}"), get(port, "/api/status")["items"]
        adder.kill()
        adder.join()
    print(
        f"\nthe job was {still['state']} at step {still['step']:,} of {still['steps']:,}, "
        f"and there were {items:,} items at the end"
    )
    print(f"p99 of people / median of one on the idle server: {told(loaded, idle)} (at most {MOST_RATIO:g})")
    print(f"without a job and items added: {told(alone, idle)}")
    print(f"without a pause: p99 / their own median: {crowd.at(99) / crowd.at(50):.1f}")
    if still["state"] != "training":
        wrong.append("the job did not train all the time; give it more steps")
    ratio = together(loaded).at(99) / together(idle).at(50)
    return wrong + ([f"p99 is {ratio:.1f} times the single median"] if ratio > MOST_RATIO else [])


def told(people: list[Timed], idle: list[Timed]) -> str:
    """Of all rounds together, and of each."""
    each = ", ".join(f"{some.at(99) / one.at(50):.1f}" for some, one in zip(people, idle, strict=True))
    return f"{together(people).at(99) / together(idle).at(50):.1f} ({each})"


def children_of(process: int) -> list[int]:
    """The processes that another has started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


@contextlib.contextmanager
def stopped(*processes: int) -> Iterator[None]:
    """These processes do nothing for a while."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def get(port: int, path: str) -> Any:
    """The answer to a GET."""
    with urlopen(f"http://localhost:{port}{path}") as answer:
        return json.load(answer)


def lookups(folder: Path, model: pts3h.Model, asked: argparse.Namespace) -> list[str]:
    """The second part; what is wrong."""
    codes = make_index(folder, model, asked.million)
    print(
        f"\n{asked.million:,} items, one worker, lookups within {RADIUS}, load "
        f"{os.getloadavg()[0]:.1f}\n{HEADER}"
    )
    wrong, best = [], 0.0
    with serving(folder / f"{asked.million}.index", folder / "model") as (port, _):
        in_process("lookup", port, 3.0, 1, 1, codes)
        for name, count, size in [("one code a request", 8, 1), (f"{BATCH} codes a request", 2, BATCH)]:
            timed = in_process("lookup", port, asked.seconds, count, size, codes)
            rate = size * len(timed.seconds) / asked.seconds
            best = max(best, rate)
            print(timed.line(f"{name}, {count} clients", asked.seconds) + f"   {rate:,.0f} lookups/s")
            wrong += timed.errors[:1]
    return wrong + ([f"only {best:,.0f} lookups a second"] if best < LEAST_LOOKUPS else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--million", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--added", type=int, default=512, help="items that are added at a time")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two adds")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["PTS3H_CACHE"] = str(Path(place) / "cache")
        folder = Path(place)
        model = make_model(folder)
        wrong = under_load(folder, model, asked) if asked.n else []
        wrong += lookups(folder, model, asked) if asked.million else []
    sys.exit("; ".join(wrong) or None)


if __name__ == "__main__":
    main()
