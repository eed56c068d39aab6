"""Milvus with codes of two parts against plain codes of as many bits: one run, ratios.

    python benchmarks/milvus_parts.py [--items 200000] [--bits 64] [--look-bits 64] [--k 10]

Starts a Milvus server of its own unless MILVUS_URI names one. Distances must be those of brute force.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

from beside_server import run_beside  # isort: skip
from milvus_search import per_second  # isort: skip

import numpy as np

import pts3h
from pts3h.codes import DEFAULT_WEIGHT, By, Codes, Layout, distances

AT_ONCE = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--items", type=int, default=200_000)
    arguments.add_argument("--bits", type=int, default=64)
    arguments.add_argument("--look-bits", type=int, default=64)
    arguments.add_argument("--k", type=int, default=10)
    asked = arguments.parse_args()
    if "MILVUS_URI" not in os.environ:
        run_beside("milvus")
    layout = Layout(asked.bits, asked.look_bits, DEFAULT_WEIGHT)
    rng = np.random.default_rng(0)
    codes, queries = (pts3h.pack(rng.random((n, layout.bits)) < 0.5) for n in (asked.items, AT_ONCE))
    print(f"{asked.items:,} codes, k = {asked.k}; queries a second, and times plain codes\n")
    with filled(Layout(layout.bits), codes) as index:
        plain = rates(index, queries, asked.k, "both")
        print(f"{f'plain, {layout.bits} bits':24}" + "".join(f"{rate:>12,.0f}{'':10}" for rate in plain))
    with filled(layout, codes) as index:
        for by in get_args(By):
            found = [hits.distances for hits in index.search(queries[:3], asked.k, by=by)]
            near = np.sort(distances(queries[:3], codes, layout, by), axis=1)[:, : asked.k]
            assert found == near.tolist(), "Milvus and brute force disagree"
            both = zip(rates(index, queries, asked.k, by), plain, strict=True)
            cells = [f"{rate:>12,.0f} {rate / base:>7.2f}x " for rate, base in both]
            print(f"{f'{layout}, by {by}':24}" + "".join(cells))


@contextmanager
def filled(layout: Layout, codes: Codes) -> Iterator[Any]:
    """A collection with these codes, gone afterwards."""
    server = os.environ["MILVUS_URI"].split("://")[-1].rstrip("/")
    address = f"milvus://{server}/parts_{layout.look}_{os.getpid()}"
    more: Any = {"look_bits": layout.look, "weight": layout.weight, "timeout": 120.0}
    with pts3h.open_index(address, layout.meaning, **more) as opened:
        index: Any = opened
        index.add(np.arange(len(codes)), codes)
        while index.count < len(codes):
            time.sleep(0.2)
        try:
            yield index
        finally:
            index._collection._call("drop_collection", index._collection._name)


def rates(index: Any, queries: Codes, k: int, by: By) -> list[float]:
    """Queries a second: one by one, many at once, and many at once within a small radius."""
    return [
        per_second(lambda: index.search(queries[:1], k, by=by), 1),
        per_second(lambda: index.search(queries, k, by=by), len(queries)),
        per_second(lambda: index.within(queries, 2, by=by), len(queries)),
    ]


if __name__ == "__main__":
    main()
