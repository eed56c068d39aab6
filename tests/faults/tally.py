"""Counts what becomes of each try of a fault; the table at the end of a run.

The hooks are imported by ``tests/conftest.py``, so that the table is there whatever part of the tests runs.
"""

import secrets
from collections import Counter
from contextlib import contextmanager

ENDS = ("lost", "wrong", "hung")
ROWS = []  # of the table: a name, the tries, and how many of them ended badly in each way


class Lost(AssertionError):
    """What was acknowledged, or was there before, is gone."""


class Hung(AssertionError):
    """It did not end."""


class Tally:
    """The tries of one fault."""

    def __init__(self, fault):
        self.fault, self.tries, self.failed = fault, 0, []

    @contextmanager
    def trying(self, what=""):
        """One try: it survives unless the block raises. The next try follows in any case."""
        self.tries += 1
        try:
            yield
        except Exception as error:
            end = {Lost: "lost", Hung: "hung"}.get(type(error), "wrong")
            self.failed.append((end, f"{self.fault}, {what}: {end}: {type(error).__name__}: {error}"))

    def add(self, tries, failed=()):
        """Tries that were made elsewhere, and (end, what happened) of those that ended badly."""
        self.tries += tries
        self.failed += [(end, f"{self.fault}, {what}: {end}") for end, what in failed]

    def row(self):
        return [self.fault, self.tries, dict(Counter(end for end, _ in self.failed))]


def pytest_addoption(parser):
    group = parser.getgroup("faults")
    group.addoption("--faults", choices=("short", "full"), default="short", help="how many faults to try")
    group.addoption("--seed", type=int, help="of the random moments of faults; the table names it")


def pytest_configure(config):
    if config.option.seed is None:  # workers are given the options of the process that started them
        config.option.seed = secrets.randbelow(1_000_000) if config.option.faults == "full" else 0


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        ROWS.extend(row for name, row in report.user_properties if name == "fault")


def pytest_terminal_summary(terminalreporter, config):
    if not ROWS:
        return
    seed = f"--faults {config.option.faults} --seed {config.option.seed}"
    terminalreporter.section(f"faults: {seed}")
    width = max(len(fault) for fault, _, _ in ROWS)
    terminalreporter.write_line(f"{'fault':{width}} | {'tries':>6} | survived")
    for fault, tries, ends in sorted(ROWS):
        shown = "".join(f" | {ends[end]} {end}" for end in ENDS if ends.get(end))
        terminalreporter.write_line(f"{fault:{width}} | {tries:6} | {tries - sum(ends.values()):8}{shown}")
    every = sum(tries for _, tries, _ in ROWS)
    badly = sum((Counter(ends) for _, _, ends in ROWS), Counter())
    shown = ", ".join(f"{badly[end]} {end}" for end in ENDS)
    terminalreporter.write_line(f"{'all':{width}} | {every:6} | {every - badly.total():8} | {shown}")
