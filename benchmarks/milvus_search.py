"""Milvus against our local engine and faiss IndexBinaryFlat: one run, ratios.

    python benchmarks/milvus_search.py [--items 200000] [--bits 64] [--k 10]

Starts a Milvus server of its own unless MILVUS_URI names one. All three must find the same distances.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from beside_server import run_beside  # isort: skip

import numpy as np

import pts3h
from pts3h.codes import Codes

ROUNDS, SECONDS = 5, 1.0

Rates = dict[str, float]
Distances = list[list[int]]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--items", type=int, default=200_000)
    arguments.add_argument("--bits", type=int, default=64)
    arguments.add_argument("--k", type=int, default=10)
    asked = arguments.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # else waiting threads of faiss slow the working ones
    if "MILVUS_URI" not in os.environ:
        run_beside("milvus")
    rng = np.random.default_rng(0)
    codes = pts3h.pack(rng.random((asked.items, asked.bits)) < 0.5)
    queries = pts3h.pack(rng.random((100, asked.bits)) < 0.5)
    compare(codes, queries, asked.bits, asked.k)


def compare(codes: Codes, queries: Codes, bits: int, k: int) -> None:
    """Print one table: what each engine did in a second, and as a multiple of faiss."""
    rates: dict[str, Rates] = {}
    with tempfile.TemporaryDirectory() as folder:
        rates["Milvus"], expected = on_milvus(codes, queries, bits, k)
        with pts3h.open_index(f"{folder}/index", bits=bits) as index:
            rates["local"], found = of_index(index, codes, queries, k)
            assert found == expected, "Milvus and the local engine disagree"
    rates["faiss"], found = of_faiss(codes, queries, bits, k)
    assert found == expected, "Milvus and faiss disagree"
    print(f"{len(codes):,} codes of {bits} bits, k = {k}, {os.cpu_count()} processors")
    print("items or queries a second, and times faiss IndexBinaryFlat\n")
    print(f"{'':24}" + "".join(f"{name:>22}" for name in rates))
    for what, base in rates["faiss"].items():
        cells = [f"{rate[what]:>12,.0f}  {rate[what] / base:>7.4f}x" for rate in rates.values()]
        print(f"{what:24}" + "".join(f"{cell:>22}" for cell in cells))


def on_milvus(codes: Codes, queries: Codes, bits: int, k: int) -> tuple[Rates, Distances]:
    server = os.environ["MILVUS_URI"].split("://")[-1].rstrip("/")
    index: Any = pts3h.open_index(f"milvus://{server}/benchmark_{os.getpid()}", bits=bits, timeout=120.0)
    with index:
        index.add([0], codes[:1])  # the collection is made now, not on the clock
        call, name = index._collection._call, index._collection._name

        def settle() -> None:
            """Have the server index everything and let go of its unsorted copy, as in lasting use."""
            call("flush", name)
            while call("describe_index", name, "code")["indexed_rows"] < len(codes):
                time.sleep(0.2)
            call("release_collection", name)
            index._collection.make_ready()

        try:
            return of_index(index, codes, queries, k, settle)
        finally:
            call("drop_collection", name)


def of_index(
    index: Any, codes: Codes, queries: Codes, k: int, settle: Callable[[], None] = lambda: None
) -> tuple[Rates, Distances]:
    inserted = per_second(lambda: index.add(np.arange(len(codes)), codes), len(codes), once=True)
    settle()
    found = [hits.distances for hits in index.search(queries, k)]
    searched = search_rates(lambda some: index.search(some, k), lambda some: index.within(some, 2), queries)
    return {"insert": inserted} | searched, found


def of_faiss(codes: Codes, queries: Codes, bits: int, k: int) -> tuple[Rates, Distances]:
    import faiss

    width = -(-bits // 64) * 8  # faiss is several times slower at other widths
    flat = faiss.IndexBinaryFlat(8 * width)
    codes, queries = (np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in (codes, queries))
    inserted = per_second(lambda: flat.add(codes), len(codes), once=True)
    found = flat.search(queries, k)[0].tolist()
    within = lambda some: flat.range_search(some, 3)  # noqa: E731 - strictly less than 3
    searched = search_rates(lambda some: flat.search(some, k), within, queries)
    return {"insert": inserted} | searched, found


def search_rates(search: Callable[[Codes], Any], within: Callable[[Codes], Any], queries: Codes) -> Rates:
    return {
        "nearest, one by one": per_second(lambda: search(queries[:1]), 1),
        "nearest, batch of 100": per_second(lambda: search(queries), len(queries)),
        "radius 2, one by one": per_second(lambda: within(queries[:1]), 1),
        "radius 2, batch of 100": per_second(lambda: within(queries), len(queries)),
    }


def per_second(work: Callable[[], object], items: int, once: bool = False) -> float:
    """Items a second, in the best of some rounds: others may be using this machine, too."""
    best = 0.0
    for _ in range(1 if once else ROUNDS):
        repeats, start = 0, time.perf_counter()
        while repeats == 0 or (not once and time.perf_counter() - start < SECONDS):
            work()
            repeats += 1
        best = max(best, items * repeats / (time.perf_counter() - start))
    return best


if __name__ == "__main__":
    main()
