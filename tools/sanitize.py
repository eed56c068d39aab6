"""Run the C kernel under the address and undefined-behaviour sanitizers: its tests, then random calls.

    python tools/sanitize.py [--calls 4000] [--seed 0]

Right calls are compared with distances that numpy counts bit by bit. Odd calls, of random sizes, must be
answered or refused. The first thing a sanitizer finds ends the run. It needs gcc, or another compiler named
by ``CC``, with its sanitizers.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pts3h.codes import By, Layout, as_words
from pts3h.kernel import _kernel, columns_of, native
from pts3h.kernel.measure import WORD, measure
from pts3h.kernel.types import Found, Relevance

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = PROJECT / "src" / "pts3h" / "kernel" / "c"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
TESTS = ["tests/test_kernel.py", "tests/test_kernel_parts.py", "tests/test_kernel_door.py"]
Bits = NDArray[np.uint8]


def build(home: Path) -> str:
    """Copy the library to ``home`` with a kernel that watches itself; return what Python must load before."""
    compiler = os.environ.get("CC", "gcc")
    shutil.copytree(PROJECT / "src" / "pts3h", home / "pts3h", ignore=shutil.ignore_patterns("_kernel*.so"))
    command = [compiler, "-shared", "-fPIC", "-std=c11", "-O1", "-g", "-Wall", *SANITIZERS]
    command += [f"-I{sysconfig.get_path('include')}", *map(str, sorted(SOURCES.glob("*.c")))]
    subprocess.run([*command, "-o", str(home / "pts3h" / "kernel" / "_kernel.abi3.so")], check=True)
    libraries = ["libasan.so", "libubsan.so"]
    found = [
        subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True)
        for name in libraries
    ]
    return " ".join(one.stdout.strip() for one in found if os.sep in one.stdout)


def run_all(calls: int, seed: int) -> None:
    """Build, then run tests and calls in processes of their own."""
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {
            "LD_PRELOAD": build(Path(place)),
            "PYTHONPATH": place,
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps memory of its own until the end
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        for command in (
            ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=-q", *TESTS],
            [__file__, "--inside", place, "--calls", str(calls), "--seed", str(seed)],
        ):
            done = subprocess.run([sys.executable, *command], cwd=PROJECT, env=environment)
            if done.returncode:
                sys.exit(done.returncode)


def distances(queries: Bits, codes: Bits, layout: Layout, by: By) -> NDArray[np.int64]:
    """(q, n), from unpacked bits, each times what it counts."""
    of_meaning, of_look = layout.weights(by)
    counts = np.where(np.arange(layout.bits) < layout.meaning, of_meaning, of_look)
    return np.asarray((queries[:, None] != codes[None]) @ counts, np.int64)


def first_rows(near: NDArray[np.int64], rows: NDArray[np.int64], k: int | None) -> list[tuple[int, int]]:
    """(distance, row) of these rows, the first k."""
    return sorted((int(near[row]), int(row)) for row in rows)[:k]


def pairs(found: Found) -> list[list[tuple[int, int]]]:
    """(distance, row) of each query."""
    return [list(zip(near.tolist(), rows.tolist(), strict=True)) for rows, near in found.split()]


class RightCalls:
    """One random problem, and every call on it at one instruction level against what numpy says."""

    def __init__(self, rng: np.random.Generator, level: str) -> None:
        self.rng, self.level = rng, level
        look = int(rng.integers(0, 140)) * int(rng.integers(0, 2))
        self.layout = Layout(int(rng.integers(1, 200)), look, int(rng.integers(1, 17)))
        kinds: list[By] = ["both", "meaning", "look"]
        self.by = kinds[int(rng.integers(0, 3 if look else 2))]
        n, q = int(rng.integers(0, 600)), int(rng.integers(1, 5))
        base = rng.random((1, self.layout.bits)) < 0.5
        codes, queries = (
            np.asarray(base ^ (rng.random((rows, self.layout.bits)) < rng.random()), np.uint8)
            for rows in (n, q)
        )
        self.near = distances(queries, codes, self.layout, self.by)
        needed, self.how = measure(self.layout, self.by)
        self.left_out = WORD * needed.start
        self.all_columns = columns_of(np.packbits(codes, axis=1))
        self.columns = self.all_columns[needed]
        self.queries = np.ascontiguousarray(as_words(np.packbits(queries, axis=1))[:, needed])
        self.allowed = (rng.random(n) < 0.5) if rng.random() < 0.5 else None
        self.rows = np.arange(n) if self.allowed is None else np.flatnonzero(self.allowed)

    def nearest(self) -> None:
        """The k nearest."""
        k = int(self.rng.integers(1, 700))
        found = native.nearest(self.how, self.queries, self.columns, k, self.allowed, None, self.level)
        assert pairs(found) == [first_rows(near, self.rows, k) for near in self.near]

    def nearest_of_items(self) -> None:
        """All rows up to the distance at which their items are enough."""
        weights = self.rng.integers(0, 4, len(self.near[0])).astype(np.uint32)
        k = int(self.rng.integers(1, 900))
        found = native.nearest(self.how, self.queries, self.columns, k, None, weights, self.level)
        for near, got in zip(self.near, pairs(found), strict=True):
            order = np.argsort(near, kind="stable")
            enough = np.searchsorted(np.cumsum(weights[order]), k)
            last = near[order[enough]] if enough < len(order) else self.how.largest
            assert got == first_rows(near, np.flatnonzero(near <= last), None)

    def within(self) -> None:
        """All within a radius."""
        radius = int(self.rng.integers(0, self.how.largest + 1))
        found = native.within(self.how, self.queries, self.columns, radius, self.allowed, self.level)
        expected = [first_rows(near, self.rows[near[self.rows] <= radius], None) for near in self.near]
        assert pairs(found) == expected

    def histograms(self) -> None:
        """How many rows at each distance, relevant and not."""
        relevant = self.rng.random(self.near.shape) < 0.3
        relevance = Relevance(0, np.ascontiguousarray(relevant).view(np.uint8), None)
        counts = native.histograms(self.how, self.queries, self.columns, relevance, self.level)
        for near, mine, got in zip(self.near, relevant, counts, strict=True):
            for row, some in enumerate((near[~mine], near[mine])):
                np.testing.assert_array_equal(got[row], np.bincount(some, minlength=self.how.largest + 1))

    def look_up(self) -> None:
        """Distance 0 in the part that counts, by the rows that agree with a query in a window."""
        first = -(-self.layout.meaning // 8) * 8 if self.by == "look" else 0
        last = self.layout.bits if self.by == "look" or not self.layout.look else self.layout.meaning // 8 * 8
        if last <= first:
            return
        width = int(self.rng.integers(1, min(12, last - first) + 1)) // 8 * 8 or 8
        if width > last - first:
            return
        group = native.group(self.all_columns, first, width)
        group = group._replace(first=first - self.left_out)
        found = native.look_up(self.how, self.queries, self.columns, 0, [(group, 0)], self.allowed)
        expected = [first_rows(near, self.rows[near[self.rows] == 0], None) for near in self.near]
        assert found is not None and pairs(found) == expected

    def all(self) -> None:
        """Every call once."""
        for call in (self.nearest, self.nearest_of_items, self.within, self.histograms, self.look_up):
            call()


def odd_call(rng: np.random.Generator, level: str) -> str:
    """A call with sizes that rarely fit, straight to the compiled functions: "answered" or "refused"."""

    def size() -> int:
        small = int(rng.integers(-1, 9))
        return small if rng.random() < 0.9 else int(rng.choice([2**31, 2**32, 2**62]))

    def array(*sizes: int) -> Bits:
        count = int(rng.choice(sizes)) if rng.random() < 0.8 else int(rng.integers(0, 70))
        start = int(rng.random() < 0.1)
        return rng.integers(0, 256, 8 * count + 1, np.uint8)[start : start + 8 * count]

    words, n, q, width = (int(number) for number in rng.integers(1, 4, 4))
    how = (int(rng.integers(0, 80 * words)), int(rng.integers(0, 18)), int(rng.integers(0, 3)), array(words))
    given = (level, how, array(words * q), array(words * n))
    ranges = (n if rng.random() < 0.7 else size(), 0 if rng.random() < 0.7 else size())
    end = n if rng.random() < 0.7 else size()
    allowed = rng.integers(0, 2, n if rng.random() < 0.7 else 5).astype(bool) if rng.random() < 0.5 else None
    weights = rng.integers(0, 2**32, n, np.uint32) if rng.random() < 0.5 else None
    starts = rng.integers(0, 2 * n + 1, 2**width + 1).astype(np.uint32)
    rows = rng.integers(0, 2 * n, n).astype(np.uint32)
    part = (size(), width if rng.random() < 0.8 else size(), size(), int(rng.integers(-1, 3)), starts, rows)
    flips = rng.integers(0, 2**width, 8).astype(np.uint32)
    out = np.zeros(q * 2 * (how[0] + 1), np.int64)
    name = str(rng.choice(["nearest", "within", "histograms", "group", "lookup"]))
    arguments = {
        "nearest": (*given, *ranges, end, size(), allowed, weights),
        "within": (*given, *ranges, end, size(), allowed),
        "histograms": (
            *given,
            ranges[0],
            end,
            int(rng.integers(-1, 4)),
            array(q * n, 2 * q, q),
            array(n),
            1,
            out,
        ),
        "group": (given[3], ranges[0], end, size(), part[1], starts, rows.copy()),
        "lookup": (*given, ranges[0], size(), (part,), flips, size(), allowed),
    }[name]
    try:
        getattr(_kernel, name)(*arguments)
    except ValueError:
        return "refused"
    return "answered"


def make_calls(calls: int, seed: int) -> None:
    """Random calls at every instruction level that this processor has, and which it has not."""
    rng = np.random.default_rng(seed)
    levels = native.levels()
    for turn in range(calls):
        RightCalls(rng, levels[turn % len(levels)]).all()
    odd = Counter(odd_call(rng, levels[turn % len(levels)]) for turn in range(5 * calls))
    known = re.findall(r'^ +\{"(\w+)", select_', (SOURCES / "levels.c").read_text(), re.MULTILINE)
    missing = [name for name in known if name not in levels]
    print(f"random problems, every call compared with numpy: {calls:,} (seed {seed})")
    print(f"odd calls: {odd['answered']:,} answered, {odd['refused']:,} refused")
    print(f"instruction levels that were run: {', '.join(levels)}")
    print(f"instruction levels that this machine cannot run: {', '.join(missing) or 'none'}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run the C kernel under sanitizers.")
    parser.add_argument("--calls", type=int, default=4_000, help="random problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside is None:
        run_all(asked.calls, asked.seed)
    elif not Path(native.__file__).is_relative_to(asked.inside):
        sys.exit("the sanitized kernel is not the one that was imported")
    else:
        make_calls(asked.calls, asked.seed)


if __name__ == "__main__":
    main()
