"""Exact top-100 over codes of two parts against plain codes of as many bits, one thread.

python benchmarks/search_parts.py [--n 1000000 10000000] [--by both] [--weight 3]
"""

import argparse
from functools import partial
from typing import get_args

from timing import race  # isort: skip

import numpy as np

from pts3h import kernel
from pts3h.codes import DEFAULT_WEIGHT, By, Layout

K = 100
LAYOUTS = ((32, 32), (64, 32), (48, 48), (64, 64), (128, 128))
AT_ONCE = 100


def compare(n: int, layout: Layout, queries: int, by: By) -> None:
    rng = np.random.default_rng(layout.bits)
    width = layout.bits // 8
    codes, asked = (rng.integers(0, 256, (rows, width), np.uint8) for rows in (n, queries))
    columns = kernel.columns_of(codes)
    times = race(
        {
            "plain": partial(kernel.nearest, Layout(layout.bits), asked, columns, K),
            "two parts": partial(kernel.nearest, layout, asked, columns, K, by=by),
        },
        seconds=8,
    )
    plain, parts = (1e6 * seconds / queries for seconds in times.values())
    what = f"{queries} at once" if queries > 1 else "one query"
    shown = f"{layout.meaning} + {layout.look}"
    print(f"{n:>12,} {shown:>11} {what:>12} {plain:>12,.1f} us {parts:>12,.1f} us {parts / plain:>8.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--by", choices=get_args(By), default="both")
    parser.add_argument("--weight", type=int, default=DEFAULT_WEIGHT)
    arguments = parser.parse_args()
    print(f"{'codes':>12} {'bits':>11} {'queries':>12} {'plain':>15} {'two parts':>15} {'ratio':>9}")
    for n in arguments.n:
        for meaning, look in LAYOUTS:
            for queries in (AT_ONCE, 1):
                compare(n, Layout(meaning, look, arguments.weight), queries, arguments.by)


if __name__ == "__main__":
    main()
