"""One query over ten million codes: bytes read a second, against the memory bandwidth of this machine.

python benchmarks/search_bandwidth.py [--n 10000000]    (PTS3H_THREADS=2 for two threads)
"""

import argparse
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from timing import THREADS, race  # isort: skip

import numpy as np

from pts3h import kernel
from pts3h.codes import Layout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000_000)
    n = parser.parse_args().n
    threads = int(THREADS)
    rng = np.random.default_rng(0)
    codes, query = (rng.integers(0, 256, (rows, 8), np.uint8) for rows in (n, 1))
    columns = kernel.columns_of(codes)
    other = np.empty_like(columns[0])
    pieces = np.array_split(columns[0], threads)
    copies = np.array_split(other, threads)
    pool = ThreadPoolExecutor(threads)

    def everywhere(work: Callable[..., object], *arguments: Iterable[object]) -> list[object]:
        return list(pool.map(work, *arguments))

    # Three plain ways to read all the memory; a copy moves every byte twice. The best one is the bandwidth.
    plain = {
        "numpy sum": lambda: everywhere(np.sum, pieces),
        "numpy max": lambda: everywhere(np.max, pieces),
        "numpy copy": lambda: everywhere(np.copyto, copies, pieces),
    }
    ours = {
        "nearest 100": lambda: kernel.nearest(Layout(64), query, columns, 100),
        "within 10": lambda: kernel.within(Layout(64), query, columns, 10),
    }
    times = race({**plain, **ours})
    moved = {name: columns.nbytes * (2 if name == "numpy copy" else 1) for name in times}
    speeds = {name: moved[name] / took for name, took in times.items()}
    bandwidth = max(speeds[name] for name in plain)
    print(f"{n:,} x 64 bits, {columns.nbytes / 1e6:.0f} MB, {threads} thread(s)")
    for name, speed in speeds.items():
        print(f"  {name:<12} {speed / 1e9:7.2f} GB/s   {speed / bandwidth:6.1%} of the bandwidth")


if __name__ == "__main__":
    main()
