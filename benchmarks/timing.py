"""What the benchmarks share. Import it before numpy: it pins every library to one thread.

Both sides of a ratio are timed in turns in the same run, and the best of many turns counts, so that a busy
machine slows both or neither.
"""

import os
import time
from collections.abc import Callable, Mapping

THREADS = os.environ.setdefault("PTS3H_THREADS", "1")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, THREADS)
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def race(
    sides: Mapping[str, Callable[[], object]],
    seconds: float = 20.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The best time of each side in seconds, of two turns or more, about ``seconds`` in all.

    In its turn a quick side runs several times in a row, so that its data is where it would be in use.
    For work on one thread, ``time.thread_time`` leaves out the time in which others had the processor.
    """
    best = dict.fromkeys(sides, float("inf"))
    spent = dict.fromkeys(sides, 0.0)
    for turn in range(30):
        for name, side in sides.items():
            if turn >= 2 and spent[name] > seconds / len(sides):
                continue
            in_a_row = 0.0
            while in_a_row < 0.02:
                start = clock()
                side()
                took = clock() - start
                best[name] = min(best[name], took)
                in_a_row += took
            spent[name] += in_a_row
    return best


def show(title: str, times: dict[str, float], ours: str, each: int = 1) -> None:
    """Print times per query and how many times as long as ours each one takes."""
    print(f"\n{title}")
    for name, seconds in times.items():
        print(f"  {name:<34} {1e6 * seconds / each:>12,.1f} us   {seconds / times[ours]:>8.2f}x")
