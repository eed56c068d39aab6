"""A training step that processes share against one that rank 0 makes alone, with one thread each.

torchrun --standalone --nproc-per-node 2 benchmarks/ranks.py
"""

from timing import THREADS  # isort: skip

import time
from dataclasses import replace

from pts3h.training.loop import Run, train
from pts3h.training.ranks import Ranks, joined
from training_step import run_on_features, run_on_pictures


def seconds(run: Run) -> float:
    start = time.perf_counter()
    train(run, progress=False)
    return (time.perf_counter() - start) / run.used.steps


def compare(title: str, run: Run, ranks: Ranks, turns: int) -> None:
    alone = shared = float("inf")
    for _ in range(turns):
        if ranks.first:
            alone = min(alone, seconds(run))
        ranks.wait()  # the others leave the cores to it
        shared = min(shared, seconds(replace(run, ranks=ranks)))
    if ranks.first:
        times = f"alone {1e3 * alone:8.1f} ms   {ranks.count} ranks {1e3 * shared:8.1f} ms"
        print(f"{title:<26} {times}   {alone / shared:.2f}x as fast", flush=True)


def main() -> None:
    with joined() as ranks:
        if ranks is None:
            raise SystemExit("start it by torchrun, with two processes or more")
        if ranks.first:
            print(f"{ranks.count} ranks, {THREADS} thread each")
        compare("cached features, 32 + 96", run_on_features(50), ranks, turns=8)
        compare("lite0, 16 + 48", run_on_pictures(2), ranks, turns=3)


if __name__ == "__main__":
    main()
