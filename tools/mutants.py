"""Change the library a little, many times, and count the changes that its tests notice.

    python -m tools.mutants [--only src/pts3h/codes.py] [--jobs 2]

Each mutant is one of the changes of ``tools/mutations.py``. The tests of its room that run the changed line
are run, quickest first, in a child of a process that has imported everything but the library and its tests.
A mutant that no test fails for, or that none runs, survives. docs/mutants.md explains those.
"""

import argparse
import ast
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import coverage
import hypothesis
import pytest
import torch

from tools.mutations import EVERYWHERE, Mutation, mutations

PROJECT = Path(__file__).resolve().parents[1]
LIBRARY = PROJECT / "src" / "pts3h"
LEAST = 90.0  # % of all mutants that must be killed
# what is changed, and the tests that should notice
ROOMS = {
    "losses": "tests/losses",
    "objectives": "tests/objectives",
    "codes.py": "tests/test_codes.py",
    "evaluation.py": "tests/test_evaluation*.py",
    "nets/teacher.py": "tests/nets/test_teacher.py",
    "index/filters.py": "tests/index/test_filters.py",
}
SAID = "said.txt"
VERDICTS = {
    int(pytest.ExitCode.OK): "survived",
    int(pytest.ExitCode.TESTS_FAILED): "killed",
    int(pytest.ExitCode.INTERRUPTED): "killed",  # it cannot even be imported
    -signal.SIGKILL: "looped",
}


class Covering(NamedTuple):
    """Which tests run a line of a file, and how many seconds each test takes."""

    tests: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def of(self, path: Path, lines: range) -> list[str]:
        """The tests that run one of these lines, quickest first; all of them for what every import runs."""
        here = self.tests.get(str(path), {})
        found = {test for line, tests in here.items() if int(line) in lines for test in tests if test}
        if lines == EVERYWHERE:
            found = set(self.seconds)
        return sorted(found, key=lambda test: (self.seconds[test], test))


class Recorder:
    """A plugin of pytest: tells coverage which test runs, and keeps how long it took."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        self.seconds[report.nodeid] += report.duration


class Chosen:
    """A plugin of pytest: runs these tests, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the others."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])


class Changed(SourceFileLoader):
    """Loads a module of the library from other code."""

    def __init__(self, path: Path, code: CodeType) -> None:
        super().__init__(".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts), str(path))
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        """The changed code."""
        return self.code


class Finder(MetaPathFinder):
    """Finds that module, and no other."""

    def __init__(self, loader: Changed) -> None:
        self.loader = loader

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Where to load it from."""
        if fullname != self.loader.name:
            return None
        return spec_from_file_location(fullname, self.loader.path, loader=self.loader)


def run_tests(tests: Sequence[str], plugin: object, folder: Path) -> int:
    """Run pytest in this process, with temporary files in ``folder``; returns its exit code."""
    # the first failing example is enough, and a busy machine is no failure
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile(
        "mutants", deadline=None, phases=phases, derandomize=True, database=None
    )
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=-m 'not slow'"]
    options += [
        "--hypothesis-profile=mutants",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]  # hypothesis is imported, as it should be
    return int(pytest.main([*options, f"--basetemp={folder / 'temporary'}", *tests], plugins=[plugin]))


def start(work: Callable[[], int], folder: Path) -> int:
    """Do ``work`` in a child, which ends with what it returns and says it in ``folder``; returns its id."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    out = os.open(folder / SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)
    code = 70
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def measure(room: str, folder: Path) -> Covering:
    """Run the tests of a room once, as they are."""
    found = folder / "covering.json"

    def work() -> int:
        measured = coverage.Coverage(data_file=None, config_file=False, include=[str(LIBRARY / "**")])
        recorder = Recorder(measured)
        measured.start()
        code = run_tests([str(path) for path in sorted(PROJECT.glob(ROOMS[room]))], recorder, folder)
        measured.stop()
        data = measured.get_data()
        tests = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
        foreign = [name for name in sys.modules if name.partition(".")[0] not in ("pts3h", "tests", "tools")]
        found.write_text(json.dumps([tests, recorder.seconds, foreign]))
        return code

    _, status = os.waitpid(start(work, folder), 0)
    if status:
        sys.exit(f"the tests of {room} fail as they are:\n{(folder / SAID).read_text()}")
    *covering, foreign = json.loads(found.read_text())
    for name in foreign:  # here, once, instead of in every child
        with suppress(ImportError):
            import_module(name)
    return Covering(*covering)


class Mutant(NamedTuple):
    """A change, and the tests that run it."""

    path: Path
    mutation: Mutation
    tests: list[str]
    tree: ast.Module
    seconds: float

    def __str__(self) -> str:
        return f"{self.path.relative_to(PROJECT)}:{self.mutation.line}: {self.mutation.what}"

    def start(self, folder: Path) -> int:
        """Run its tests in a child, which keeps its files in ``folder``."""
        code = self.mutation.compiled(self.tree, str(self.path))

        def work() -> int:
            sys.meta_path.insert(0, Finder(Changed(self.path, code)))
            files = sorted({test.partition("::")[0] for test in self.tests})
            return run_tests(files, Chosen(self.tests), folder)

        return start(work, folder)


def mutants(room: str, only: Path | None, folder: Path) -> Iterator[Mutant]:
    """Every change of a room."""
    place = LIBRARY / room
    paths = [place] if place.is_file() else sorted(place.glob("*.py"))
    paths = [path for path in paths if only is None or path.is_relative_to(only)]
    if not paths:
        return
    covering = measure(room, folder)
    for path in paths:
        tree = ast.parse(path.read_text())
        nothing = Mutation(tree, tree, range(10**6), 0, "no change at all")
        for mutation in [nothing, *mutations(tree)]:
            tests = covering.of(path, mutation.lines)
            mutant = Mutant(path, mutation, tests, tree, sum(covering.seconds[test] for test in tests))
            if mutation is not nothing:
                yield mutant
            elif tests and os.waitpid(mutant.start(folder), 0)[1]:
                sys.exit(f"tests fail without a change:\n{(folder / SAID).read_text()}")


class Running(NamedTuple):
    """A child at work on a mutant."""

    mutant: Mutant
    folder: Path
    until: float

    def verdict(self, child: int) -> str | None:
        """What became of the mutant; None as long as its tests run."""
        if time.monotonic() > self.until:
            os.killpg(child, signal.SIGKILL)
        done, status = os.waitpid(child, os.WNOHANG)
        if not done:
            return None
        code = os.waitstatus_to_exitcode(status)
        if code < 0 and code != -signal.SIGKILL:  # the interpreter crashed
            return "killed"
        if code not in VERDICTS:
            sys.exit(f"pytest ended with {code} for {self.mutant}:\n{(self.folder / SAID).read_text()}")
        return VERDICTS[code]


def judge(every: Iterator[Mutant], jobs: int, folder: Path) -> Iterator[tuple[Mutant, str]]:
    """Each mutant and what became of it, as they end."""
    free = [folder / str(job) for job in range(jobs)]
    for place in free:
        place.mkdir()
    running: dict[int, Running] = {}

    def ended(most: int) -> Iterator[tuple[Mutant, str]]:
        while len(running) > most:
            for child, one in list(running.items()):
                verdict = one.verdict(child)
                if verdict is not None:
                    free.append(running.pop(child).folder)
                    yield one.mutant, verdict
            time.sleep(0.01)

    for mutant in every:
        if not mutant.tests:
            yield mutant, "survived"
            continue
        yield from ended(jobs - 1)
        place = free.pop()
        running[mutant.start(place)] = Running(mutant, place, time.monotonic() + 60 + 20 * mutant.seconds)
    yield from ended(0)


def table(counts: dict[str, Counter[str]]) -> list[str]:
    """The counts of each file and of all."""
    everything: Counter[str] = sum(counts.values(), Counter())
    rows = [f"{'':34}{'mutants':>9}{'killed':>9}{'looped':>9}{'survived':>10}{'killed %':>10}"]
    for name, count in [*sorted(counts.items()), ("all", everything)]:
        columns = f"{count.total():>9,}{count['killed']:>9,}{count['looped']:>9,}{count['survived']:>10,}"
        rows.append(f"{name:34}{columns}{killed(count):>10.1f}")
    return rows


def killed(count: Counter[str]) -> float:
    """The share that was noticed, in per cent."""
    return 100 * (1 - count["survived"] / max(count.total(), 1))


def main() -> None:
    """Read the command line, run, print."""
    parser = argparse.ArgumentParser(description="Count the small wrong changes that the tests notice.")
    parser.add_argument("--only", type=Path, help="a file or folder of the library")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    os.chdir(PROJECT)
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        only = asked.only and asked.only.resolve()
        every = (mutant for room in ROOMS for mutant in mutants(room, only, folder))
        for mutant, verdict in judge(every, asked.jobs, folder):
            counts.setdefault(str(mutant.path.relative_to(LIBRARY)), Counter())[verdict] += 1
            if verdict != "killed":
                print(f"{verdict}{'' if mutant.tests else ', never run'}: {mutant}", flush=True)
    print("\n".join(table(counts)))
    if asked.only is None and killed(sum(counts.values(), Counter())) < LEAST:
        sys.exit(f"fewer than {LEAST:.0f} % were killed")


if __name__ == "__main__":
    main()
