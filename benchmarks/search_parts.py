"""Codes of two parts against plain codes of as many bits, and lookups against scans: time of one processor.

python benchmarks/search_parts.py [--n 1000000 10000000] [--weight 3] [--seconds 20]
"""

import argparse
import time
from functools import partial
from typing import get_args

from timing import race  # isort: skip

import numpy as np

from pts3h import kernel
from pts3h.codes import DEFAULT_WEIGHT, By, Codes, Layout
from pts3h.index.local.multi_index import RadiusSearch, Tables

K = 100
PARTS = ((32, 32), (64, 32), (48, 48), (64, 64), (128, 128))
AT_ONCE = 16  # enough that codes stay in the cache, few enough that a call is short on a busy machine


def random_codes(n: int, bits: int) -> Codes:
    return np.random.default_rng(n).integers(0, 256, (n, bits // 8), np.uint8)


def nearest(n: int, layout: Layout, queries: int, seconds: float) -> None:
    """One line: the same codes as plain ones, and by each part and both."""
    asked, columns = random_codes(queries, layout.bits), kernel.columns_of(random_codes(n, layout.bits))
    plain = partial(kernel.nearest, Layout(layout.bits), asked, columns, K)
    by_part = {by: partial(kernel.nearest, layout, asked, columns, K, by=by) for by in get_args(By)}
    times = race({"plain": plain, **by_part}, seconds, time.thread_time)
    base = times.pop("plain")
    ratios = "".join(f"{seconds / base:>9.2f}x" for seconds in times.values())
    what = f"{queries} at once" if queries > 1 else "one query"
    print(f"{n:>12,} {layout!s:>16} {what:>12} {1e6 * base / queries:>12,.1f} us{ratios}")


def within(n: int, layout: Layout, by: By, radius: int, seconds: float) -> None:
    """One line: a scan, and lookups in tables that are made already."""
    codes = random_codes(n, layout.bits)
    flipped = (
        np.random.default_rng(0).random((AT_ONCE, layout.bits)) < 0.02
    )  # so that there is something near
    asked = codes[:AT_ONCE] ^ np.packbits(flipped, axis=1)
    search = RadiusSearch(layout, Tables(kernel.columns_of(codes)), by)
    scan = partial(kernel.within, layout, asked, search.columns, radius, by=by)
    lookups = partial(search.look_up, asked, radius, None)
    scanned, found = scan(), lookups()
    assert np.array_equal(scanned.rows, found.rows) and np.array_equal(scanned.distances, found.distances)
    times = race({"scan": scan, "lookups": lookups}, seconds, time.thread_time)
    a, b = (1e6 * times[side] / AT_ONCE for side in ("scan", "lookups"))
    print(f"{n:>12,} {layout!s:>16} {by:>8} {radius:>4} {a:>12,.1f} us {b:>10,.1f} us {a / b:>9.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--weight", type=int, default=DEFAULT_WEIGHT)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    print(f"top {K}, times plain codes of as many bits\n{'':44}{'plain':>12}", *get_args(By), sep="   ")
    for n in asked.n:
        for meaning, look in PARTS:
            for queries in (AT_ONCE, 1):
                nearest(n, Layout(meaning, look, asked.weight), queries, asked.seconds)
    print("\nwithin a radius, per query: scan, lookups, ratio")
    radii: list[tuple[By, int]] = [("meaning", 2), ("look", 2), ("both", 2), ("both", 3 * asked.weight - 1)]
    for by, radius in radii:
        within(asked.n[0], Layout(64, 64, asked.weight), by, radius, asked.seconds / 4)


if __name__ == "__main__":
    main()
