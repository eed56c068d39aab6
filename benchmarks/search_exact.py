"""Exact top-100 among a million codes: the kernel against faiss, usearch and numpy, one thread each.

python benchmarks/search_exact.py [--n 1000000] [--quick]
"""

import argparse
from collections.abc import Callable

from timing import race, show  # isort: skip

import faiss
import numpy as np
from numpy.typing import NDArray
from usearch.compiled import MetricKind
from usearch.index import search

from pts3h import kernel
from pts3h.codes import Layout, as_words

K = 100


def padded(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Zero bytes up to a width faiss has fast code for."""
    return as_words(codes).view(np.uint8)


def flat(codes: NDArray[np.uint8]) -> faiss.IndexBinaryFlat:
    index = faiss.IndexBinaryFlat(codes.shape[1] * 8)
    index.add(codes)
    return index


def signs(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    return 2.0 * np.unpackbits(codes, axis=1).astype(np.float32) - 1.0


def fast_scan(codes: NDArray[np.uint8]) -> faiss.IndexPQFastScan:
    """Hamming distance as product quantisation: every four bits are one of sixteen centroids."""
    bits = codes.shape[1] * 8
    index = faiss.IndexPQFastScan(bits, bits // 4, 4)
    corners = signs(np.arange(16, dtype=np.uint8)[:, None])[:, 4:]
    faiss.copy_array_to_vector(np.tile(corners, (bits // 4, 1, 1)).ravel(), index.pq.centroids)
    index.is_trained = True
    for start in range(0, len(codes), 100_000):
        index.add(signs(codes[start : start + 100_000]))
    return index


def numpy_search(queries: NDArray[np.uint64], codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    found = []
    for query in queries:
        distances = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.uint16)
        found.append(np.argpartition(distances, K)[:K])
    return np.stack(found)


def compare(n: int, bits: int, queries: int, quick: bool) -> None:
    rng = np.random.default_rng(bits)
    codes, asked = (rng.integers(0, 256, (rows, bits // 8), np.uint8) for rows in (n, queries))
    columns, words = kernel.columns_of(codes), as_words(codes)
    as_they_are, wide, wide_asked = flat(codes), flat(padded(codes)), padded(asked)

    found = kernel.nearest(Layout(bits), asked, columns, K)
    distances, rows = wide.search(wide_asked, K)
    same = np.array_equal(found.rows.reshape(-1, K), rows) and np.array_equal(
        found.distances.reshape(-1, K), distances
    )

    sides: dict[str, Callable[[], object]] = {
        "pts3h kernel": lambda: kernel.nearest(Layout(bits), asked, columns, K),
        "faiss IndexBinaryFlat": lambda: as_they_are.search(asked, K),
    }
    if bits % 64:
        sides["faiss IndexBinaryFlat, padded"] = lambda: wide.search(wide_asked, K)
    if not quick:
        float_asked, fast = signs(asked), fast_scan(codes)
        sides["faiss IndexPQFastScan"] = lambda: fast.search(float_asked, K)
        sides["usearch exact"] = lambda: search(
            codes, asked, K, MetricKind.Hamming, exact=True, threads=1, dtype="b1"
        )
        sides["numpy"] = lambda: numpy_search(as_words(asked), words)
    what = f"{queries} queries at once" if queries > 1 else "one query"
    show(f"{n:,} x {bits} bits, {what}, per query", race(sides), "pts3h kernel", queries)
    print(f"  same rows and distances as faiss, ties included: {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="only faiss IndexBinaryFlat")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    for bits in (64, 48, 128, 256):
        for queries in (100, 1):
            compare(arguments.n, bits, queries, arguments.quick or bits > 64)


if __name__ == "__main__":
    main()
