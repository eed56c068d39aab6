"""Do onnxruntime and torch give the same codes? On real pictures, which took no part in training.

    python benchmarks/onnx_parity.py [--pictures 10000] [--whole]

Trains on 1,000 pictures of CIFAR-10, exports, and encodes others both ways. Beside it stands what torch alone
does to a code if pictures come one by one instead of 64 at a time, and how long one picture takes.
"""

from timing import race  # isort: skip

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pts3h import Hasher, load_model
from pts3h.data.datasets.table import load_dataset
from pts3h.data.items import Items, read_items
from pts3h.model.described import ONNX
from pts3h.model.onnx_export import export_onnx
from pts3h.model.runner import Runner

LEARNED, LABELLED, ALONE, REPEATS = 1_000, 300, 1_000, 50
NEAR_ZERO = 1e-5

Floats = NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the codes of onnxruntime and torch.")
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--whole", action="store_true", help="train the whole network, for a few steps")
    given = parser.parse_args()
    items = load_dataset("cifar10").items
    assert items.labels is not None
    labels = np.where(np.arange(LEARNED) < LABELLED, items.labels[:LEARNED], -1)
    learned = items.subset(np.arange(LEARNED))
    settings: dict[str, Any] = {"freeze": False, "steps": 20, "warm_start": False} if given.whole else {}
    hasher = Hasher(bits=64, look_bits=64, **settings)
    hasher.fit(learned, labels=labels, check=False)
    with tempfile.TemporaryDirectory() as folder:
        hasher.save(folder)
        export_onnx(hasher.model, Path(folder) / ONNX)
        (Path(folder) / "model.safetensors").unlink()  # else more than a few pictures would be torch's
        onnx = load_model(folder).runner
        compare(hasher.model.networks, onnx, items.subset(np.arange(LEARNED, LEARNED + given.pictures)))


def compare(torch: Runner, onnx: Runner, items: Items) -> None:
    ours, theirs = outputs(onnx, items), outputs(torch, items)
    say("onnxruntime against torch", ours, theirs)
    some = items.subset(np.arange(min(ALONE, len(items))))
    one_by_one = np.concatenate([outputs(torch, some.subset(np.array([p]))) for p in range(len(some))])
    say("torch one by one against torch", one_by_one, theirs[: len(some)])
    one = items.subset(np.arange(1))
    best = race({"torch": lambda: repeat(torch, one), "onnxruntime": lambda: repeat(onnx, one)})
    for name, seconds in best.items():
        print(f"one picture by {name}: {seconds / REPEATS * 1000:.1f} ms")


def outputs(runner: Runner, items: Items) -> Floats:
    return runner.run(read_items(items), "teacher", keep=False, progress=None)[0]


def repeat(runner: Runner, item: Items) -> None:
    for _ in range(REPEATS):
        outputs(runner, item)


def say(what: str, found: Floats, expected: Floats) -> None:
    differing, far = (found >= 0) != (expected >= 0), np.abs(found - expected)
    beyond = differing & (np.abs(expected) > NEAR_ZERO)
    largest = np.abs(expected[differing]).max(initial=0)
    print(f"{what}: {len(found):,} pictures, {found.size:,} bits, outputs of spread {expected.std():.2f}")
    print(f"  bits that differ: {differing.sum()}, with torch's output beyond {NEAR_ZERO:g}: {beyond.sum()}")
    print(f"  largest such output: {largest:.1e}")
    print(f"  outputs differ by {np.median(far):.1e} in the median, {far.max():.1e} at most")


if __name__ == "__main__":
    main()
