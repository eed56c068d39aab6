"""How each step grows with the collection: fit, encode, index, search, radius, duplicates, evaluate.

python benchmarks/growth.py [--n 50000] [--doublings 3] [--plot growth.png]

Vectors around 200 centres, one in fifty labelled, 64 + 64 bits, one thread; seconds of the processor, so that
a busy machine counts little. Each size runs in a process of its own. Nothing should grow faster than its
work: twice the items, twice the time.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import timing  # noqa: F401  isort: skip

import numpy as np

import pts3h
from pts3h.index.duplicates import duplicate_groups

WIDTH, CENTRES, BITS, LOOK, QUERIES = 128, 200, 64, 64, 200
STEPS = ("fit", "encode", "index", "open", "search", "radius", "duplicates", "evaluate")


def spent(work: Callable[[], object]) -> float:
    """Seconds of the processor, the least of three where that is quick."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        if best > 2:
            break
    return best


def measure(n: int) -> dict[str, float]:
    """Seconds of each step for ``n`` items, and the most memory."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, WIDTH)).astype(np.float32)
    labels = rng.integers(CENTRES, size=n)
    vectors = centres[labels] + rng.standard_normal((n, WIDTH)).astype(np.float32)
    known = np.where(np.arange(n) % 50 == 0, labels, -1)
    warnings.simplefilter("ignore")
    start = time.process_time()
    hasher = pts3h.Hasher(bits=BITS, look_bits=LOOK, steps=200)
    hasher.fit(vectors, labels=known, check=False, progress=False)
    times = {"fit": time.process_time() - start}
    codes = hasher.encode(vectors, progress=False)
    times["encode"] = spent(lambda: hasher.encode(vectors, progress=False))
    asked, ids = codes[:QUERIES], np.arange(n)
    with tempfile.TemporaryDirectory() as place:
        start = time.process_time()
        with pts3h.open_index(Path(place) / "index", bits=BITS, look_bits=LOOK) as index:
            for first in range(0, n, 10_000):
                index.add(ids[first : first + 10_000], codes[first : first + 10_000])
        times["index"] = time.process_time() - start
        start = time.process_time()
        with pts3h.open_index(Path(place) / "index") as index:
            index.search(asked[:1], 10)
            times["open"] = time.process_time() - start
            times["search"] = spent(lambda: index.search(asked, 10))
            times["radius"] = spent(lambda: index.within(asked, 2))
            times["duplicates"] = spent(lambda: duplicate_groups(index, 2, progress=False))
    times["evaluate"] = spent(
        lambda: pts3h.evaluate(asked, codes, labels=(labels[:QUERIES], labels), bits=BITS, look_bits=LOOK).map
    )
    return times | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--once", type=int, help="measure this many items in this process, as JSON")
    asked = parser.parse_args()
    if asked.once is not None:
        print(json.dumps(measure(asked.once)))
        return
    sizes = [asked.n << doubling for doubling in range(asked.doublings + 1)]
    print(f"{'items':>10}" + "".join(f"{step:>12}" for step in STEPS) + f"{'memory':>12}")
    found = []
    for n in sizes:
        ended = subprocess.run(
            [sys.executable, __file__, "--once", str(n)], check=True, stdout=subprocess.PIPE, text=True
        )
        found.append(json.loads(ended.stdout))
        row = "".join(f"{found[-1][step]:>10.3f} s" for step in STEPS)
        print(f"{n:>10,}{row}{found[-1]['memory'] / 1e6:>9,.0f} MB", flush=True)
    growth = [(found[-1][step] / found[0][step]) ** (1 / asked.doublings) for step in STEPS]
    print(f"{'x2 items':>10}" + "".join(f"{factor:>11.2f}x" for factor in growth))
    if asked.plot is not None:
        draw(sizes, found, asked.plot)


def draw(sizes: list[int], found: list[dict[str, float]], to: Path) -> None:
    """Seconds by number of items, both by powers; a thin line has twice the time for twice the items."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for step in STEPS:
        seconds = [row[step] for row in found]
        (line,) = axes.loglog(sizes, seconds, marker="o", label=step)
        axes.loglog(sizes, [seconds[0] * n / sizes[0] for n in sizes], color=line.get_color(), lw=0.7, ls=":")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.minorticks_off()
    axes.set_xlabel("items")
    axes.set_ylabel("seconds of one core")
    axes.legend(bbox_to_anchor=(1.02, 1), loc="upper left", frameon=False)
    figure.savefig(to, dpi=150)


if __name__ == "__main__":
    main()
