"""One process under load: 50 threads search a million items while one adds and one asks new filters.

    python benchmarks/load.py [--minutes 10] [--n 1000000] [--searchers 50] [--batch 100]

It fails if a call fails, an answer is wrong, an item that was added is not found, memory grows, or p99 of a
search is more than five times its median. Every thread searches without a pause.
"""

import argparse
import math
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from timing import THREADS  # isort: skip

import numpy as np
from numpy.typing import NDArray

from pts3h import Index, open_index

BITS, K, GROUPS = 64, 10, 1_000
PAUSE = 0.05  # seconds between two adds
MOST_SPREAD = 5.0  # p99 of a search, as a multiple of its median
# An item in memory (search_reload.py; nobody asks for radius tables here), what 16 kept filters say of it and
# four ready masks (tests/index/local/test_memory.py), and its code, kept here to look for it afterwards.
ITEM_BYTES = 26 + 8 + BITS // 8
MOST_GROWTH = 0.05  # of memory after the warm-up, besides the items that were added
STEP = 1.01  # of two durations that are told apart
Codes = NDArray[np.uint8]


class Durations:
    """How long calls took, in memory that does not grow with their number."""

    def __init__(self) -> None:
        self.counts = np.zeros(2_000, np.int64)

    def note(self, seconds: float) -> None:
        """One more call."""
        self.counts[min(max(int(math.log(seconds / 1e-6, STEP)), 0), len(self.counts) - 1)] += 1

    def percentile(self, percent: float) -> float:
        """In milliseconds."""
        place = np.searchsorted(np.cumsum(self.counts), percent / 100 * self.counts.sum())
        return float(1e-3 * STEP ** (int(place) + 0.5))


@dataclass
class Load:
    """What the threads share, and what they found."""

    index: Index
    codes: Codes
    until: float
    batch: int  # items per add
    plain: list[Durations] = field(default_factory=list)  # one per thread
    filtered: Durations = field(default_factory=Durations)
    added: bytearray = field(
        default_factory=bytearray
    )  # codes that were acknowledged; ids go on from the first
    memory: list[tuple[float, int, int]] = field(default_factory=list)  # seconds, bytes, items added by then
    failed: list[str] = field(default_factory=list)

    @property
    def acknowledged(self) -> Codes:
        """The codes that were added so far."""
        return np.frombuffer(bytes(self.added), np.uint8).reshape(-1, BITS // 8)

    def search(self, seed: int) -> None:
        """Search for codes that are there."""
        rng, took = np.random.default_rng(seed), Durations()
        self.plain.append(took)
        while time.monotonic() < self.until:
            row = int(rng.integers(len(self.codes)))
            start = time.perf_counter()
            (hits,) = self.index.search(self.codes[row : row + 1], k=K)
            took.note(time.perf_counter() - start)
            near = list(hits.distances)
            if len(near) != K or near[0] != 0 or near != sorted(near):
                self.failed.append(f"a wrong answer for item {row}: {hits}")

    def filter(self, seed: int) -> None:
        """Search with a filter that nobody has asked before."""
        rng = np.random.default_rng(seed)
        while time.monotonic() < self.until:
            groups = rng.choice(GROUPS, 3, replace=False).tolist()
            row = int(rng.integers(len(self.codes)))
            start = time.perf_counter()
            where = {"group": {"in": groups}}
            (hits,) = self.index.search(self.codes[row : row + 1], k=K, where=where)
            self.filtered.note(time.perf_counter() - start)
            if len(hits.ids) != K or any(int(one) % GROUPS not in groups for one in hits.ids):
                self.failed.append(f"a wrong answer for groups {groups}: {hits}")

    def add(self, seed: int) -> None:
        """Add new items, and note them as soon as they are acknowledged."""
        rng = np.random.default_rng(seed)
        while time.monotonic() < self.until:
            first = len(self.codes) + len(self.added) // (BITS // 8)
            ids = range(first, first + self.batch)
            codes = rng.integers(0, 256, (self.batch, BITS // 8), np.uint8)
            self.index.add(ids, codes, meta=[{"group": one % GROUPS} for one in ids])
            self.added += codes.tobytes()
            time.sleep(PAUSE)

    def watch(self, begun: float) -> None:
        """Note how much memory is used, twice a second."""
        while time.monotonic() < self.until:
            self.memory.append((time.monotonic() - begun, used_memory(), len(self.added) // (BITS // 8)))
            time.sleep(0.5)

    def guarded(self, work: Callable[[int], None], seed: int) -> None:
        """Do the work; whatever it raises is a failure of the whole."""
        try:
            work(seed)
        except Exception as error:
            self.failed.append(f"{work.__name__}: {type(error).__name__}: {error}")


def used_memory() -> int:
    """Bytes of this process in memory, those of mapped files left out where the system tells them apart."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * resource.getpagesize()


def build(folder: Path, n: int) -> tuple[Index, Codes]:
    """An index of n random codes, each in one of a thousand groups."""
    codes = np.random.default_rng(0).integers(0, 256, (n, BITS // 8), np.uint8)
    index = open_index(folder / "index", BITS)
    for start in range(0, n, 50_000):
        ids = range(start, min(start + 50_000, n))
        index.add(ids, codes[ids.start : ids.stop], meta=[{"group": one % GROUPS} for one in ids])
    return index, codes


def run(index: Index, codes: Codes, seconds: float, searchers: int, batch: int) -> Load:
    """All threads at once, for so long."""
    begun = time.monotonic()
    load = Load(index, codes, begun + seconds, batch)
    jobs = [(load.search, seed) for seed in range(searchers)] + [(load.filter, -1), (load.add, -2)]
    threads = [threading.Thread(target=load.guarded, args=(work, abs(seed) + 1000)) for work, seed in jobs]
    for thread in threads:
        thread.start()
    load.watch(begun)
    for thread in threads:
        thread.join()
    return load


def lost(load: Load) -> int:
    """How many of the acknowledged items are not there, or are another, or are not found by their code."""
    missing, codes = 0, load.acknowledged
    for start in range(0, len(codes), 1_000):
        some = codes[start : start + 1_000]
        ids = range(len(load.codes) + start, len(load.codes) + start + len(some))
        for one, code, item, hits in zip(
            ids, some, load.index.get(ids), load.index.search(some, k=1), strict=True
        ):
            there = item is not None and item.code.tobytes() == code.tobytes()
            missing += not there or hits.ids[0] != one
    return missing


def growth(memory: list[tuple[float, int, int]]) -> tuple[float, float]:
    """Megabytes after the warm-up (a fifth of the time) and at the end, each a median over a fifth; the items
    that were added between are taken off."""
    parts = np.array_split(np.array(memory, np.float64), 5)
    (_, early, few), (_, late, many) = (np.median(part, axis=0) for part in (parts[1], parts[-1]))
    return early / 1e6, (late - ITEM_BYTES * (many - few)) / 1e6


def show(load: Load, missing: int) -> list[str]:
    """Print the tables; return what is wrong."""
    plain = Durations()
    plain.counts = np.sum([some.counts for some in load.plain], axis=0)
    marks = {"median": 50, "p90": 90, "p99": 99, "p99.9": 99.9, "largest": 100}
    print(f"\n{'milliseconds':<22} {'calls':>10} " + " ".join(f"{name:>9}" for name in marks))
    for name, some in (("search", plain), ("search, a new filter", load.filtered)):
        times = " ".join(f"{some.percentile(mark):>9.2f}" for mark in marks.values())
        print(f"{name:<22} {some.counts.sum():>10,} {times}")
    calls = [some.counts.sum() for some in load.plain]
    print(f"a thread made {min(calls):,} to {max(calls):,} searches")
    print(f"\n{'minute':>8} {'MB in memory':>14} {'items added':>12}")
    for seconds, size, items in load.memory[:: max(1, len(load.memory) // 10)]:
        print(f"{seconds / 60:>8.1f} {size / 1e6:>14.1f} {items:>12,}")
    early, late = growth(load.memory)
    median, p99 = plain.percentile(50), plain.percentile(99)
    print(f"\nmemory, net of added items: {early:.0f} MB after the warm-up, {late:.0f} MB at the end")
    print(f"p99 / median: {p99 / median:.2f} (at most {MOST_SPREAD:g})")
    print(f"acknowledged items: {len(load.acknowledged):,}, lost: {missing}")
    print(f"failed calls and wrong answers: {len(load.failed)}")
    wrong = load.failed[:5] + ([f"{missing} items are lost"] if missing else [])
    if late > early * (1 + MOST_GROWTH):
        wrong.append("memory grows")
    if p99 > MOST_SPREAD * median:
        wrong.append("some searches wait too long")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--searchers", type=int, default=50)
    parser.add_argument("--batch", type=int, default=100, help="items per add")
    asked = parser.parse_args()
    print(f"{asked.n:,} items of {BITS} bits, {asked.searchers} searching threads, {asked.minutes:g} minutes")
    print(
        f"{os.cpu_count()} cores, {THREADS} thread per search, load of the machine {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as place:
        index, codes = build(Path(place), asked.n)
        with index:
            index.search(codes[:1], k=K)  # everything is read
            load = run(index, codes, 60 * asked.minutes, asked.searchers, asked.batch)
            print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
            missing = lost(load)
    sys.exit("; ".join(show(load, missing)) or None)


if __name__ == "__main__":
    main()
