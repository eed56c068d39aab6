"""The largest index that one machine holds: fill it, open it, search, add, remove; time and memory of each.

python benchmarks/large_index.py [--n 100000000] [--bits 64] [--folder large.index]

Codes are random, ids are integers. Each step runs in a process of its own, so that memory counts from
nothing. An index that is there already is used as it is.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import timing  # isort: skip

import numpy as np
from numpy.typing import NDArray

from pts3h import kernel, open_index
from pts3h.codes import Layout

BATCH = 500_000
K = 10


def resident() -> int:
    """Bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def some_codes(seed: int, count: int, bits: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (count, bits // 8), np.uint8)


def timed(what: str, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    took = time.perf_counter() - start
    print(f"  {what:<44} {took:12.3f} s", flush=True)
    return took


def fill(folder: Path, n: int, bits: int) -> None:
    start = time.perf_counter()
    with open_index(folder, bits) as index:
        for first in range(0, n, BATCH):
            count = min(BATCH, n - first)
            index.add(np.arange(first, first + count), some_codes(first, count, bits))
        added = time.perf_counter() - start
    whole = time.perf_counter() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    disk = sum(file.stat().st_size for file in folder.iterdir())
    print(f"  added at {n / added:,.0f} items/s, closed {whole - added:.1f} s later")
    print(f"  {disk / n:.1f} bytes per item on disk")
    print(f"  at most {most / n:.1f} bytes of memory per item")


def use(folder: Path, n: int, bits: int) -> None:
    layout, query = Layout(bits), some_codes(-1 % 2**31, 64, bits)
    kernel.nearest(layout, query[:1], np.zeros((-(-bits // 64), 9), np.uint64), 1)  # loads what it needs
    before = resident()
    index = open_index(folder)
    timed("open and first search", lambda: index.search(query[:1], K))
    assert index.count == n, f"{folder} holds {index.count:,} items: remove it, or give --n"
    print(f"  {(resident() - before) / n:.1f} bytes of memory per item")
    best = timing.race(
        {
            "one": lambda: index.search(query[:1], K),
            "many": lambda: index.search(query, K),
            "near": lambda: index.within(query[:1], 4),
        },
        seconds=30,
    )
    one, many, near = best["one"], best["many"], best["near"]
    print(f"  one query: {1e3 * one:.1f} ms; 64 at once: {1e3 * many / 64:.2f} ms each")
    print(f"  one query within radius 4: {1e3 * near:.1f} ms")
    codes = np.ones(n * bits // 64, np.uint64)  # zeros would be one page of memory, read again and again
    read = min(timing.race({"sum": codes.sum, "max": codes.max}, seconds=10).values())
    print(
        f"  reading as much memory: {1e3 * read:.1f} ms, so one query has {read / one:.0%} of the bandwidth"
    )
    del codes
    found = index.search(some_codes(0, min(BATCH, n), bits)[:20], 1)
    assert [hit.ids[0] for hit in found] == list(range(20)), "items do not find themselves"
    new = np.arange(n, n + 1_000)
    timed("add 1,000 items", lambda: index.add(new, some_codes(7, 1_000, bits)))
    timed("search after it", lambda: index.search(query[:1], K))
    timed("remove them", lambda: index.remove(new))
    timed("search after it", lambda: index.search(query[:1], K))
    timed("close", index.close)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"  at most {most / n:.1f} bytes of memory per item")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000_000)
    parser.add_argument("--bits", type=int, default=64)
    parser.add_argument("--folder", type=Path, default=Path("large.index"))
    parser.add_argument("--step", choices=["fill", "use"], help="one step, in this process")
    asked = parser.parse_args()
    if asked.step is not None:
        {"fill": fill, "use": use}[asked.step](asked.folder, asked.n, asked.bits)
        return
    steps = ["use"] if asked.folder.is_dir() else ["fill", "use"]
    for step in steps:
        print(f"{step}: {asked.n:,} x {asked.bits} bits, {timing.THREADS} thread(s)", flush=True)
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--step", step], check=True)


if __name__ == "__main__":
    main()
