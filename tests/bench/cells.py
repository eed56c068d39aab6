"""Hand-made cells."""

from dataclasses import asdict

from pts3h.bench.plan import Cell, Setup, claim
from pts3h.util.files import write_json


def result(method, value, *, bits=12, labels=100, seed=0, varied=None, **more):
    """What a finished cell holds, with MAP ``value``."""
    figures = {
        "map": value,
        "map_at": None,
        "precision_within_2": value / 2,
        "ranks": [1, 10, 100],
        "precision_at": [value, value * 0.9, value * 0.5],
        "recall": [0.1, 0.5, 1.0],
        "precision": [value, value * 0.8, 0.1],
        "seconds": 2.0,
        "split": "abc",
        "course": [],
    }
    return {"cell": Cell(method, bits, labels, seed, varied), **figures, **more}


def write(folder, results, dataset="cifar10", **setup):
    """A folder as a finished matrix leaves it."""
    claim(folder, Setup(dataset, **setup), f"pts3h bench {dataset} --out {folder}")
    for entry in results:
        write_json(folder / entry["cell"].file, {**entry, "cell": asdict(entry["cell"])})
