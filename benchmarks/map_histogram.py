"""Mean average precision, 1,000 queries x 59,000 items at 48 bits: histograms against the usual argsort loop.

python benchmarks/map_histogram.py
"""

from timing import race, show  # isort: skip

import numpy as np
from numpy.typing import NDArray

from pts3h import evaluate, kernel
from pts3h.codes import Layout

Q, N, BITS, CLASSES = 1_000, 59_000, 48, 10


def argsort_loop(
    signs_q: NDArray[np.float32],
    signs_n: NDArray[np.float32],
    one_hot_q: NDArray[np.float32],
    one_hot_n: NDArray[np.float32],
) -> float:
    """Mean average precision as hashing papers' code computes it: sort all distances of each query."""
    total = 0.0
    for signs, label in zip(signs_q, one_hot_q, strict=True):
        relevant = (label @ one_hot_n.T > 0).astype(np.float32)
        hamming = 0.5 * (BITS - signs @ signs_n.T)
        relevant = relevant[np.argsort(hamming)]
        ranks = np.asarray(np.where(relevant == 1)) + 1.0
        total += float(np.mean(np.linspace(1, int(relevant.sum()), int(relevant.sum())) / ranks))
    return total / len(signs_q)


def histogram_map(
    queries: NDArray[np.uint8],
    database: NDArray[np.uint8],
    labels: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> float:
    return evaluate(queries, database, bits=BITS, labels=labels).map


def main() -> None:
    rng = np.random.default_rng(0)
    labels_q, labels_n = rng.integers(0, CLASSES, Q), rng.integers(0, CLASSES, N)
    centres = rng.random((CLASSES, BITS))
    bits_q, bits_n = (rng.random((len(y), BITS)) < centres[y] for y in (labels_q, labels_n))
    signs_q, signs_n = (2 * bits.astype(np.float32) - 1 for bits in (bits_q, bits_n))
    codes_q, codes_n = np.packbits(bits_q, axis=1), np.packbits(bits_n, axis=1)
    one_hot_q, one_hot_n = (np.eye(CLASSES, dtype=np.float32)[y] for y in (labels_q, labels_n))
    ours = histogram_map(codes_q, codes_n, (labels_q, labels_n))
    theirs = argsort_loop(signs_q[:100], signs_n, one_hot_q[:100], one_hot_n)
    print(f"MAP {ours:.4f}; the loop over the first 100 queries, ties in sort order: {theirs:.4f}")
    times = race(
        {
            "pts3h.evaluate": lambda: histogram_map(codes_q, codes_n, (labels_q, labels_n)),
            "histograms alone": lambda: kernel.histograms(
                codes_q, codes_n, Layout(BITS), labels=(labels_q, labels_n)
            ),
            "argsort loop": lambda: argsort_loop(signs_q, signs_n, one_hot_q, one_hot_n),
        }
    )
    show(f"{Q:,} x {N:,} at {BITS} bits, in all", times, "pts3h.evaluate")


if __name__ == "__main__":
    main()
