"""Search and insert by this version of the library against another one, in turns, in one run.

    git worktree add ../before COMMIT
    (cd ../before && python setup.py build_ext --inplace)
    python benchmarks/two_versions.py ../before/src [--n 200000] [--this src]

Each version works in a process of its own, on an index of its own with the same items. They take turns, so
that a busy machine slows both or neither. The ratio is the median over the turns, of processor time. Where a
process happens to lie in memory counts, too, and stays for its life: so there are several pairs of processes,
and the lowest and highest median of a pair tell how far to believe the last digit. To see what is noise,
copy the other version and compare it with its copy by --this.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import timing  # noqa: F401  isort: skip

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]  # (turns, 2): of the other version, of this one
HERE = Path(__file__).resolve().parents[1] / "src"
BITS, BATCH, IN_A_ROW = 64, 10_000, 0.01
PAIRS, TURNS = 12, 20  # of processes, and of each pair


class Worker:
    """A process that knows one version."""

    def __init__(self, source: Path, n: int) -> None:
        known = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, __file__, str(source), "--n", str(n), "--work"]
        self.process = subprocess.Popen(
            command, env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: str) -> float:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(what, file=self.process.stdin, flush=True)
        return float(json.loads(self.process.stdout.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()


def work(source: Path, n: int) -> None:
    """Answer each name on standard input with the seconds that the work of this name took."""
    import pts3h

    assert Path(pts3h.__file__).is_relative_to(source.resolve()), "another version was imported"
    codes = np.random.default_rng(0).integers(0, 256, (n + 2 * TURNS * BATCH, BITS // 8), np.uint8)
    with (
        tempfile.TemporaryDirectory() as folder,
        pts3h.open_index(Path(folder) / "index", bits=BITS) as index,
    ):
        for first in range(0, n, BATCH):
            index.add(
                range(first, first + BATCH),
                codes[first : first + BATCH],
                meta=[{"price": one % 100} for one in range(first, first + BATCH)],
            )
        added, asked = n, 0

        def add(count: int) -> Callable[[], object]:
            def insert() -> None:
                nonlocal added
                first = added % (len(codes) - count)  # a fast machine adds more than there are codes
                index.add(range(added, added + count), codes[first : first + count])
                added += count

            return insert

        def new_filter() -> object:
            nonlocal asked
            asked += 1
            return index.search(codes[:1], k=10, where={"price": {"<": 50 + asked / 1000}})

        works: dict[str, Callable[[], object]] = {
            "search, one query": lambda: index.search(codes[:1], k=100),
            "search, 64 at once": lambda: index.search(codes[:64], k=100),
            "radius 2, one query": lambda: index.within(codes[:1], 2),
            "radius 2, 64 at once": lambda: index.within(codes[:64], 2),
            "a filter seen before": lambda: index.search(codes[:1], k=10, where={"price": {"<": 50}}),
            "a new filter": new_filter,
            "get 10 items": lambda: index.get(list(range(10))),
            "add 1 item": add(1),
            "add 10,000 items": add(BATCH),
        }
        for line in sys.stdin:
            work_of = works[line.strip()]
            times = 0
            start = time.process_time()
            while (spent := time.process_time() - start) < IN_A_ROW:
                work_of()
                times += 1
            print(json.dumps(spent / times), flush=True)


NAMES = (
    "search, one query",
    "search, 64 at once",
    "radius 2, one query",
    "radius 2, 64 at once",
    "a filter seen before",
    "a new filter",
    "get 10 items",
    "add 1 item",
    "add 10,000 items",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path, help="the folder src of the other version")
    parser.add_argument("--this", type=Path, default=HERE, help="the folder src of this version")
    parser.add_argument("--n", type=int, default=200_000)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.other, asked.n)
        return
    print(
        f"{asked.n:,} items of {BITS} bits; milliseconds of the processor, medians of {PAIRS} x {TURNS} turns"
    )
    print(f"{'':<24}{'other':>10}{'this':>10}{'ratio':>9}   of each pair")
    turns: dict[str, list[Times]] = {name: [] for name in NAMES}
    for _ in range(PAIRS):
        with Worker(asked.other.resolve(), asked.n) as other, Worker(asked.this.resolve(), asked.n) as this:
            for name in NAMES:
                turns[name].append(taken(other, this, name))
    for name, pairs in turns.items():
        old, new = 1e3 * np.median(np.concatenate(pairs), axis=0)
        of_pairs = [ratio(pair) for pair in pairs]
        print(
            f"{name:<24}{old:>10.3f}{new:>10.3f}{ratio(np.concatenate(pairs)):>8.2f}x"
            f"   {min(of_pairs):.2f}x to {max(of_pairs):.2f}x"
        )


def taken(other: Worker, this: Worker, name: str) -> Times:
    """Seconds of both in each turn; who begins changes from turn to turn."""
    both = np.empty((TURNS, 2))
    for turn in range(TURNS):
        for place, side in ((0, other), (1, this)) if turn % 2 else ((1, this), (0, other)):
            both[turn, place] = side.ask(name)
    return both


def ratio(both: Times) -> float:
    """The median of what one turn says."""
    return float(np.median(both[:, 1] / both[:, 0]))


if __name__ == "__main__":
    main()
