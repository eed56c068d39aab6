"""Run every instruction level of the C kernel that this machine, or an emulator on it, can run.

    python tools/run_levels.py [--problems 500] [--seed 0]

Each level has two functions of its own, which a small program calls without Python; all else is the same C
for all. The answers are compared with distances that numpy counts bit by bit. The program is built for this
processor, and for 64-bit ARM by a cross compiler; qemu runs what the processor lacks, where it can. In Debian
these are ``apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross``.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pts3h.codes import By, Layout, as_words
from pts3h.kernel import columns_of
from pts3h.kernel.measure import measure

PROJECT = Path(__file__).resolve().parents[1]
SOURCES, DRIVER = PROJECT / "src" / "pts3h" / "kernel" / "c", PROJECT / "tools" / "levels"
MOST_ROWS = 2_048  # in one call
CROSS = os.environ.get("ARM_CC", "aarch64-linux-gnu-gcc")


@dataclass(frozen=True)
class Way:
    """One way to run the program: a compiler, and an emulator or nothing."""

    name: str
    compiler: list[str]
    emulator: list[str]

    def missing(self) -> str | None:
        """The first tool that is not installed."""
        tools = [self.compiler[0], *self.emulator[:1]]
        return next((tool for tool in tools if shutil.which(tool) is None), None)


NATIVE = os.environ.get("CC", "gcc")
WAYS = [Way("this processor", [NATIVE], [])]
if platform.machine() == "x86_64":
    WAYS += [
        Way("qemu-x86_64", [NATIVE, "-static"], ["qemu-x86_64", "-cpu", "max"]),
        Way("qemu-aarch64", [CROSS, "-static"], ["qemu-aarch64"]),
    ]


class Problem:
    """Codes, a query, how bits count, and what numpy says."""

    def __init__(self, rng: np.random.Generator) -> None:
        look = int(rng.integers(0, 300)) * int(rng.integers(0, 2))
        layout = Layout(int(rng.integers(1, 600)), look, int(rng.integers(1, 17)))
        kinds: list[By] = ["both", "meaning", "look"]
        by = kinds[int(rng.integers(0, 3 if look else 2))]
        stride = int(rng.integers(0, 700))
        self.begin = int(rng.integers(0, stride + 1))
        self.end = min(int(rng.integers(self.begin, stride + 1)), self.begin + MOST_ROWS)
        base = rng.random((1, layout.bits)) < 0.5
        codes, query = (
            np.asarray(base ^ (rng.random((rows, layout.bits)) < rng.random()), np.uint8)
            for rows in (stride, 1)
        )
        needed, self.how = measure(layout, by)
        of_meaning, of_look = layout.weights(by)
        counts = np.where(np.arange(layout.bits) < layout.meaning, of_meaning, of_look)
        self.near = ((codes != query) @ counts)[self.begin : self.end]
        self.limit = int(rng.integers(0, self.how.largest + 2))
        columns = columns_of(np.packbits(codes, axis=1))[needed]
        words = as_words(np.packbits(query, axis=1))[0, needed]
        sizes = [len(words), self.how.largest, self.how.first, self.how.second]
        sizes += [stride, self.begin, self.end, self.limit]
        parts = (np.array(sizes, np.uint64), self.how.masks, words, columns)
        self.bytes = b"".join(np.ascontiguousarray(part, np.uint64).tobytes() for part in parts)

    def check(self, answers: "Answers", way: str) -> set[str]:
        """The levels that answered; a wrong answer ends the run."""
        seen = set()
        while name := answers.take(np.uint8, 16).tobytes().rstrip(b"\0").decode():
            distances = answers.take(np.uint16, self.end - self.begin)
            found = int(answers.take(np.uint64, 1)[0])
            offsets, near = answers.take(np.uint16, found), answers.take(np.uint16, found)
            right = np.flatnonzero(self.near < self.limit)
            same = np.array_equal(distances, self.near) and np.array_equal(offsets, right)
            if not same or not np.array_equal(near, self.near[right]):
                sys.exit(f"{name} on {way} is wrong: {self.how}, rows {self.begin} to {self.end}")
            seen.add(name)
        return seen


class Answers:
    """What the program wrote, from the first byte to the last."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, kind: type[np.generic], count: int) -> NDArray[np.generic]:
        """The next numbers."""
        size = np.dtype(kind).itemsize * count
        part = np.frombuffer(self.content[self.place : self.place + size], kind)
        if len(part) != count:
            sys.exit("the program wrote too little")
        self.place += size
        return part


def run(way: Way, problems: list[Problem], folder: Path) -> set[str]:
    """Build, run, compare; which levels ran."""
    program = folder / way.name.replace(" ", "-")
    command = [*way.compiler, "-O2", "-std=c11", "-Wall", f"-I{DRIVER}", f"-I{SOURCES}"]
    command += [str(DRIVER / "driver.c"), str(SOURCES / "levels.c"), str(SOURCES / "measure.c")]
    subprocess.run([*command, "-o", str(program)], check=True)
    given = b"".join(problem.bytes for problem in problems)
    done = subprocess.run([*way.emulator, str(program)], input=given, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"the program ended with {done.returncode} on {way.name}")
    answers = Answers(done.stdout)
    return set[str]().union(*(problem.check(answers, way.name) for problem in problems))


def main() -> None:
    """Run all ways, and say which levels ran and which did not."""
    parser = argparse.ArgumentParser(description="Run every instruction level of the C kernel.")
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    problems = [Problem(rng) for _ in range(asked.problems)]
    known = re.findall(r'^ +\{"(\w+)", select_', (SOURCES / "levels.c").read_text(), re.MULTILINE)
    ran = dict[str, list[str]]()
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            if (tool := way.missing()) is not None:
                print(f"{way.name} is left out: {tool} is not installed")
                continue
            for name in run(way, problems, Path(folder)):
                ran.setdefault(name, []).append(way.name)
    print(f"{asked.problems:,} random problems per level, compared with numpy (seed {asked.seed})")
    for name in known:
        where = f"right, on {', '.join(ran[name])}" if name in ran else "NOT RUN: nothing here has it"
        print(f"{name:<9} {where}")


if __name__ == "__main__":
    main()
