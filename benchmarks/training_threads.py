"""Training on kept features with one thread and with all, alone and where other programs use the cores.

    python benchmarks/training_threads.py [--steps 200] [--busy 4]

Prints the seconds of a fit, best of several in turns, and how many times as long all threads take. The fit is
of vectors as long as the features of the usual image network.
"""

import argparse
import multiprocessing
import os
import time
import warnings

import numpy as np

import pts3h

ITEMS, LABELLED, WIDTH, TRIES = 3_000, 300, 1280, 3


def fit(steps: int, threads: int | None) -> float:
    """Seconds of a fit; on one thread unless more are asked for."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, ITEMS)
    vectors = rng.normal(size=(ITEMS, WIDTH)) + rng.normal(size=(10, WIDTH))[labels]
    hasher = pts3h.Hasher(bits=48, steps=steps, neighbours=0.0)
    if threads is None:
        os.environ.pop("OMP_NUM_THREADS", None)
    else:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    labels[LABELLED:] = -1
    begun = time.perf_counter()
    hasher.fit(vectors.astype(np.float32), labels=labels, check=False, progress=False)
    return time.perf_counter() - begun


def spin() -> None:
    """Another program."""
    while True:
        sum(range(100_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--busy", type=int, default=4, help="other programs, each busy all the time")
    asked = parser.parse_args()
    cores = os.cpu_count() or 1
    warnings.simplefilter("ignore")
    os.environ.pop("OMP_NUM_THREADS", None)
    fit(10, None)  # everything is loaded, torch with as many threads as there are cores
    for busy in (0, asked.busy):
        others = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(busy)]
        for other in others:
            other.start()
        load = os.getloadavg()[0]
        pairs = [(fit(asked.steps, None), fit(asked.steps, cores)) for _ in range(TRIES)]
        one, every = np.min(pairs, axis=0)
        for other in others:
            other.kill()
        print(
            f"{busy} busy programs beside, load {load:.1f}: {asked.steps} steps take {one:.1f} s on one "
            f"thread, {every:.1f} s on {cores}: {every / one:.2f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
