"""Postgres with pgvector against our local engine, exact and through HNSW with its recall: one run, ratios.

    python benchmarks/postgres_search.py [--items 200000] [--bits 64] [--k 10]

Starts a Postgres server of its own unless POSTGRES_URI names a database. Codes are of two kinds: random ones,
and ones in clusters of which a third are distinct, as those of a trained model are. Exact answers must be
those of the local engine. Recall is the share of hits that are as near as the exact ones.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from beside_server import run_beside  # isort: skip
from milvus_search import Distances, Rates, of_index, per_second  # isort: skip

import numpy as np
import psycopg

import pts3h
from pts3h.codes import Codes

CANDIDATES = (40, 200, 1000)  # ef_search; 40 is pgvector's default, 1000 the most
CLUSTERS, FLIPPED = 500, 0.08


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--items", type=int, default=200_000)
    arguments.add_argument("--bits", type=int, default=64)
    arguments.add_argument("--k", type=int, default=10)
    asked = arguments.parse_args()
    if "POSTGRES_URI" not in os.environ:
        run_beside("postgres")
    rng = np.random.default_rng(0)
    print(f"{asked.items:,} codes of {asked.bits} bits, k = {asked.k}, {os.cpu_count()} processors")
    for kind, make in {"random": random_codes, "clustered": clustered_codes}.items():
        codes = make(rng, asked.items + 100, asked.bits)
        compare(kind, codes[100:], codes[:100], asked.bits, asked.k)


def random_codes(rng: np.random.Generator, n: int, bits: int) -> Codes:
    return pts3h.pack(rng.random((n, bits)) < 0.5)


def clustered_codes(rng: np.random.Generator, n: int, bits: int) -> Codes:
    centres = random_codes(rng, CLUSTERS, bits)
    flips = pts3h.pack(rng.random((n // 3, bits)) < FLIPPED)
    distinct = centres[rng.integers(0, CLUSTERS, n // 3)] ^ flips
    return np.asarray(distinct[rng.integers(0, len(distinct), n)], np.uint8)


def compare(kind: str, codes: Codes, queries: Codes, bits: int, k: int) -> None:
    """Print one table: what each way did in a second, and as a multiple of the local engine."""
    rates: dict[str, Rates] = {}
    with tempfile.TemporaryDirectory() as folder, pts3h.open_index(f"{folder}/index", bits=bits) as index:
        rates["local"], expected = of_index(index, codes, queries, k)
    table = f"benchmark_{os.getpid()}"
    address = f"{os.environ['POSTGRES_URI']}/{table}"
    try:
        with pts3h.open_index(address, bits=bits, timeout=600.0) as index:
            index.add([0], codes[:1])  # the columns are made now, not on the clock
            rates["exact"], found = of_index(index, codes, queries, k)
            assert found == expected, "Postgres and the local engine disagree"
        seconds = make_graph(table)
        recalls = {}
        for candidates in CANDIDATES:
            with pts3h.open_index(address, ef_search=candidates, timeout=600.0) as index:
                name = f"HNSW {candidates}"
                rates[name], found = of_graph(index, queries, k)
                recalls[name] = recall(found, expected)
    finally:
        run(f"DROP TABLE IF EXISTS {table}")
    distinct = len(np.unique(codes, axis=0)) / len(codes)
    print(f"\n{kind} codes, {distinct:.0%} distinct; items or queries a second, and times the local engine")
    print(f"{'':24}" + "".join(f"{name:>20}" for name in rates))
    for what, base in rates["local"].items():
        cells = [
            f"{rate[what]:>10,.0f}  {rate[what] / base:.4f}x" if what in rate else ""
            for rate in rates.values()
        ]
        print(f"{what:24}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"{'recall':24}{1:>20.3f}{1:>20.3f}" + "".join(f"{share:>20.3f}" for share in recalls.values()))
    print(f"the HNSW index took {seconds:,.0f} s to make")


def of_graph(index: Any, queries: Codes, k: int) -> tuple[Rates, Distances]:
    found = [hits.distances for hits in index.search(queries, k)]
    return {
        "nearest, one by one": per_second(lambda: index.search(queries[:1], k), 1),
        "nearest, batch of 100": per_second(lambda: index.search(queries, k), len(queries)),
    }, found


def recall(found: Sequence[list[int]], expected: Sequence[list[int]]) -> float:
    near = [sum(one <= exact[-1] for one in hits) for hits, exact in zip(found, expected, strict=True)]
    return sum(near) / sum(map(len, expected))


def make_graph(table: str) -> float:
    start = time.perf_counter()
    run(f"CREATE INDEX ON {table} USING hnsw (meaning bit_hamming_ops)")
    return time.perf_counter() - start


def run(statement: str) -> None:
    with psycopg.connect(os.environ["POSTGRES_URI"], autocommit=True) as connection:
        connection.execute(statement)


if __name__ == "__main__":
    main()
