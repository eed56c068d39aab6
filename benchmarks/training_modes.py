"""A training step in bfloat16, and one of compiled networks, against the ordinary one.

Compiling is not counted; it is done before, and its time is printed.

    python benchmarks/training_modes.py
"""

from timing import race  # isort: skip

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from pts3h.training.loop import Run, train
from training_step import run_on_features, run_on_pictures

MODES: dict[str, dict[str, Any]] = {
    "float32": {},
    "bfloat16": {"precision": "bfloat16"},
    "compiled": {"compile": True},
}


def compare(title: str, make: Callable[..., Run], seconds: float) -> None:
    runs = {name: make(**settings) for name, settings in MODES.items()}
    start = time.perf_counter()
    train(runs["compiled"], progress=False)
    print(f"{title}: compiled in {time.perf_counter() - start:.0f} s")
    # one thread works, so that its own time leaves out what others did to the machine
    sides = {name: partial(train, run, progress=False) for name, run in runs.items()}
    times = race(sides, seconds, clock=time.thread_time)
    for name, run in runs.items():
        each, ratio = 1e3 * times[name] / run.used.steps, times[name] / times["float32"]
        print(f"    {name:<10} {each:8.2f} ms a step   {ratio:5.2f}x")


def main() -> None:
    warnings.simplefilter("ignore", DeprecationWarning)  # torch's own, when it compiles
    compare("cached features, 32 + 96", partial(run_on_features, 100), seconds=60)
    compare("lite0, 16 + 48", partial(run_on_pictures, 2), seconds=120)


if __name__ == "__main__":
    main()
