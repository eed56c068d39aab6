"""Do two versions of the code give the same figures, to the bit?

    python tools/same_figures.py COMMIT

Small runs of every system, and of every way that a picture takes to a network, by the code of a commit and by
that of this folder: each in a process of its own, with an empty cache and without the compiled kernel. Codes,
figures and the course of the training are compared. If all are the same, it prints a row for
``src/pts3h/bench/proven.py``, and what the commit measured counts as measured today.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.bench.provenance import shared_digest
from pts3h.data.datasets.digits import get_digits
from pts3h.settings.defaults import ADDED_LATER
from pts3h.systems.table import SYSTEMS
from pts3h.util.files import cache_folder

PROJECT = Path(__file__).resolve().parents[1]
IMAGES, QUERIES, BITS, LABELS, STEPS = 300, 60, 16, 40, 10
SUFFIXES = (".png", ".jpg", ".webp", ".bmp", ".gif", ".tif")
SOME = ["pts3h-full", "pts3h-dsh", "dsh", "itq"]
SHARED = "shared.txt"
# of a run that says when and by what it was made
NO_FIGURES = {"seconds", "code", "versions", "checksum"}


def plans(pictures: Path) -> dict[str, Plan]:
    """What is run: all systems once, and some of them on each way to the network."""
    steps = {"steps": STEPS}
    small = {"steps": 2, "image_size": 32, "labelled_per_batch": 8, "unlabelled_per_batch": 8}
    setups = {
        "files": Setup("nuswide21", place=str(pictures), settings=steps),
        "whole": Setup("digits", images=IMAGES, settings=small | {"freeze": False, "warm_start": False}),
        "mirrored": Setup("digits", images=IMAGES, settings=steps | {"mirror": True}),
        "colours": Setup("cifar10", images=1200, settings=steps | {"image_size": 32}),
        "frozen": Setup("digits", images=IMAGES, settings=steps),
    }
    methods = {"frozen": SYSTEMS.names(), "whole": ["pts3h-dsh", "dsh"], "files": ["pts3h-dsh", "dsh", "itq"]}
    return {
        name: Plan(setup, methods.get(name, SOME), [BITS], [LABELS], runs=1) for name, setup in setups.items()
    }


def write_pictures(folder: Path) -> None:
    """Some digits as files of every kind, and the lists that name them."""
    pixels, labels = get_digits()
    folder.mkdir()
    lines = []
    for number in range(IMAGES):
        name = f"{number:03}{SUFFIXES[number % len(SUFFIXES)]}"
        Image.fromarray(np.asarray(pixels[number])).save(folder / name)
        lines.append(f"{name} {' '.join(str(int(labels[number] == one)) for one in range(10))}")
    queries, known = lines[:QUERIES], lines[QUERIES : QUERIES + LABELS]
    for name, some in {"test": queries, "database": lines[QUERIES:], "train": known}.items():
        (folder / f"{name}.txt").write_text("\n".join(some) + "\n", encoding="utf-8")


def run_plans(pictures: Path, to: Path) -> None:
    """Run everything by the version of the library that is imported here."""
    for name, plan in plans(pictures).items():
        print(f"  {name}: {', '.join(plan.names)}", flush=True)
        if run_matrix(plan, to / name, workers=1, progress=False, keep_codes=True):
            sys.exit("a run failed: nothing is compared")
    (to / SHARED).write_text(shared_digest(), encoding="utf-8")


def run_version(source: Path, place: Path) -> Path:
    """The same by the library in a folder, in a process of its own; where its results are."""
    results, cache = place / "results", place / "cache"
    results.mkdir()
    cache.mkdir()
    (cache / "datasets").symlink_to(cache_folder("datasets").resolve())
    environment = os.environ | {"PYTHONPATH": str(source), "PTS3H_CACHE": str(cache)}
    command = [sys.executable, __file__, "--run", str(place.parent / "pictures"), str(results)]
    subprocess.run(command, env=environment, check=True)
    return results


def source_of(commit: str, to: Path) -> Path:
    """The library as a commit has it."""
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=PROJECT, check=True, stdout=-1).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(to, filter="data")
    return to / "src"


def source_here(to: Path) -> Path:
    """The library as it is in this folder, without its compiled kernel."""
    shutil.copytree(PROJECT / "src", to / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return to / "src"


def figures(results: Path) -> dict[str, Any]:
    """All that must be the same, by file."""
    found: dict[str, Any] = {
        path.relative_to(results).as_posix(): path.read_bytes() for path in results.rglob("*.npy")
    }
    for path in results.rglob("*-seed*.json"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        name = path.relative_to(results).as_posix()
        found[name] = {key: value for key, value in stored.items() if key not in NO_FIGURES}
        if stored["settings"]:  # one that was added since, and is off, changes nothing
            found[name]["settings"] = ADDED_LATER | stored["settings"]
    return found


def compare(commit: str) -> None:
    """Run both versions, and print the row or what differs."""
    asked = ["git", "rev-parse", "--short", commit]
    commit = subprocess.run(asked, cwd=PROJECT, check=True, stdout=-1, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        write_pictures(Path(folder, "pictures"))
        places = {commit: Path(folder, "before"), "this folder": Path(folder, "after")}
        for place in places.values():
            place.mkdir()
        # both at once: this folder may change while the commit is run
        sources = [source_of(commit, places[commit]), source_here(places["this folder"])]
        results = []
        for (name, place), source in zip(places.items(), sources, strict=True):
            print(name, flush=True)
            results.append(run_version(source, place))
        before, after = map(figures, results)
        shared = [(one / SHARED).read_text(encoding="utf-8") for one in results]
    differing = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    print(f"{len(before):,} files of results, {len(differing)} differ")
    if differing:
        sys.exit("\n".join(differing))
    if shared[0] == shared[1]:
        print("the shared code is the same: no row is needed")
        return
    row = {"before": shared[0], "after": shared[1], "commit": commit}
    row["command"] = f"python tools/same_figures.py {commit}"
    print("    Proof(")
    for name, value in row.items():
        print(f'        {name}="{value}",')
    print("    ),")


def main() -> None:
    """As the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--run", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run is None:
        compare(asked.commit)
    else:
        run_plans(*asked.run)


if __name__ == "__main__":
    main()
