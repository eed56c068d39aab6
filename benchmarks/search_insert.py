"""Insert a million codes of 64 bits: durable in the local index, in one SQLite row each, or in memory only.

python benchmarks/search_insert.py [--n 1000000] [--batch 10000]
"""

import argparse
import sqlite3
import tempfile
from pathlib import Path

from timing import race  # isort: skip

import faiss
import numpy as np
from numpy.typing import NDArray
from usearch.index import Index as UsearchIndex

from pts3h import open_index

Ids = NDArray[np.int64]
Codes = NDArray[np.uint8]


def local(ids: Ids, codes: Codes, batch: int) -> None:
    with tempfile.TemporaryDirectory() as place, open_index(Path(place) / "index", 64) as index:
        for start in range(0, len(ids), batch):
            index.add(ids[start : start + batch], codes[start : start + batch])


def sqlite_rows(ids: Ids, codes: Codes, batch: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        connection = sqlite3.connect(Path(place) / "rows.sqlite", isolation_level=None)
        connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
        connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, code BLOB)")
        for start in range(0, len(ids), batch):
            connection.execute("BEGIN")
            rows = zip(
                ids[start : start + batch].tolist(), map(bytes, codes[start : start + batch]), strict=True
            )
            connection.executemany("INSERT INTO items VALUES (?, ?)", rows)
            connection.execute("COMMIT")
        connection.close()


def faiss_memory(ids: Ids, codes: Codes, batch: int) -> None:
    index = faiss.IndexBinaryIDMap2(faiss.IndexBinaryFlat(64))
    for start in range(0, len(ids), batch):
        index.add_with_ids(codes[start : start + batch], ids[start : start + batch])
    with tempfile.TemporaryDirectory() as place:
        faiss.write_index_binary(index, str(Path(place) / "index"))


def usearch_memory(ids: Ids, codes: Codes) -> None:
    index = UsearchIndex(ndim=64, metric="hamming", dtype="b1")
    index.add(np.abs(ids), codes, threads=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=10_000)
    arguments = parser.parse_args()
    n, batch = arguments.n, arguments.batch
    rng = np.random.default_rng(0)
    ids, codes = rng.permutation(4 * n)[:n], rng.integers(0, 256, (n, 8), np.uint8)
    few = min(n, 20_000)
    times = race(
        {
            "pts3h local index, durable": lambda: local(ids, codes, batch),
            "SQLite, a row per item, durable": lambda: sqlite_rows(ids, codes, batch),
            "faiss, saved once at the end": lambda: faiss_memory(ids, codes, batch),
        }
    )
    rates = {name: n / seconds for name, seconds in times.items()}
    rates[f"usearch HNSW in memory, {few:,} of them"] = (
        few / race({"usearch": lambda: usearch_memory(ids[:few], codes[:few])}, seconds=1)["usearch"]
    )
    print(f"{n:,} x 64 bits in batches of {batch:,}")
    ours = rates["pts3h local index, durable"]
    for name, rate in rates.items():
        print(f"  {name:<40} {rate:>14,.0f} items/s   {ours / rate:>8.2f}x is pts3h")
    one = race({"one": lambda: local(ids[:200], codes[:200], 1)}, seconds=5)["one"] / 200
    print(f"  pts3h, one item an add: {1e3 * one:.2f} ms each, each on disk when add returns")


if __name__ == "__main__":
    main()
