"""Take each bound of the server out in turn: some test must fail without it.

    python tools/without_bounds.py [--only NAME ...]

Each row of the table below is one change of a copy of the library. The tests that watch over the bounds then
run against the copy. A bound whose tests still pass is one that nobody would miss; the command then fails.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
LIBRARY = PROJECT / "src" / "pts3h"
LIMITS, GUARD, JOBS = "tests/web/test_limits.py", "tests/web/test_guard.py", "tests/web/test_jobs.py"


@dataclass(frozen=True)
class Bound:
    """One bound, and how it is taken out.

    Attributes:
        name: what it bounds.
        file: of the library, where it is held.
        held: the text that holds it.
        gone: the text without it.
        tests: file of the tests that must notice.
    """

    name: str
    file: str
    held: str
    gone: str
    tests: str = LIMITS


BOUNDS = (
    Bound("hits", "web/asked.py", "if k > limits.k:", "if False:"),
    Bound("pages of hits", "web/asked.py", "if offset + k > limits.window:", "if False:"),
    Bound(
        "radius of a search",
        "web/routes/search.py",
        "check_distance(asked.radius, asked.by, layout, site.limits.radius)",
        "pass",
    ),
    Bound(
        "radius of an upload",
        "web/routes/search.py",
        "check_distance(radius, by, served.index.layout, site.limits.radius)",
        "pass",
    ),
    Bound("radius of duplicates", "web/routes/duplicates.py", "site.limits.duplicates_radius", "10**6"),
    Bound("queries", "web/asked.py", "if count > limits.queries:", "if False:"),
    Bound("hits of all queries", "web/routes/search.py", "> 10 * limits.window:", "> 10**12:"),
    Bound("bytes of a picture", "web/bodies.py", "PICTURE: limits.upload_bytes", "PICTURE: 10**9"),
    Bound("bytes of a list of pairs", "web/bodies.py", "PAIRS: limits.csv_bytes", "PAIRS: 10**9"),
    Bound("bytes of a question", "web/bodies.py", "self.usual = limits.json_bytes", "self.usual = 10**9"),
    Bound("bytes that are not announced", "web/bodies.py", "max_body_size=size", "max_body_size=10**9"),
    Bound("pixels", "web/encoding.py", "if width * height > self.limits.pixels:", "if False:"),
    Bound("formats", "data/decoding.py", "formats=formats_for(suffix)", "formats=None"),
    Bound(
        "content type",
        "web/routes/search.py",
        'if not request.headers.get("content-type", "").lower().startswith("image/"):',
        "if False:",
    ),
    Bound(
        "depth of a body",
        "web/routing.py",
        "check_depth(await self.body(), site_of(self).limits.depth)",
        "pass",
    ),
    Bound("depth of a search", "web/routing.py", "check_depth(content, depth)", "pass"),
    Bound(
        "content type of a search",
        "web/routing.py",
        'if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):',
        "if False:",
    ),
    Bound(
        "depth of a filter",
        "web/asked.py",
        'check_depth(text.encode(errors="replace"), limits.depth)',
        "pass",
    ),
    Bound("conditions of a filter", "index/filters.py", "MAX_CONDITIONS = 256", "MAX_CONDITIONS = 10**9"),
    Bound("values of a filter", "index/filters.py", "MAX_VALUES = 10_000", "MAX_VALUES = 10**9"),
    Bound("uploads per minute", "web/routes/search.py", "site.uploads.take()", "pass"),
    Bound("uploads that wait", "web/encoding.py", "if self._waiting >= MAX_WAITING:", "if False:"),
    Bound("streams", "web/routes/jobs.py", "if site.streams >= MOST_STREAMS:", "if False:"),
    Bound("connections", "web/serving.py", "limit_concurrency=1_000,", ""),
    Bound("name of a person", "web/routes/answers.py", "Field(max_length=100, ", "Field("),
    Bound("name of a group", "web/routes/groups.py", "Field(max_length=LONGEST_NAME)", "Field()"),
    Bound("items of a page", "web/routes/items.py", "Query(ge=1, le=1000)", "Query(ge=1)"),
    Bound("text in names of items", "web/routes/items.py", "Query(max_length=200, ", "Query("),
    Bound("groups of duplicates", "web/routes/duplicates.py", "Query(ge=1, le=100)", "Query(ge=1)"),
    Bound("answers of a page", "web/routes/answers.py", "Query(ge=1, le=1000)", "Query(ge=1)"),
    Bound("questions that are skipped", "web/routes/questions.py", "Query(max_length=100)", "Query()"),
    Bound(
        "length of an id", "web/schemas.py", "Field(min_length=1, max_length=4096, ", "Field(min_length=1, "
    ),
    Bound("one job at a time", "web/jobs.py", "if (busy := self.running()) is not None:", "if False:", JOBS),
    Bound(
        "names of the server",
        "web/guard.py",
        "if host_name(host) not in LOCAL | self.hosts:",
        "if False:",
        GUARD,
    ),
    Bound("other sites", "web/guard.py", "and is_foreign(headers, host):", "and False:", GUARD),
    Bound("read-only", "web/guard.py", "if changes and self.read_only:", "if False:", GUARD),
    Bound("token", "web/guard.py", "and asked and not self.is_shown(headers):", "and False:", GUARD),
)


def without(bound: Bound, home: Path) -> None:
    """Take a bound out of the copy of the library in ``home``."""
    file = home / "pts3h" / bound.file
    text = file.read_text(encoding="utf-8")
    if text.count(bound.held) < 1:
        sys.exit(f"{bound.name}: {bound.file} no longer holds {bound.held!r}: put the table right")
    file.write_text(text.replace(bound.held, bound.gone), encoding="utf-8")


def first_failure(home: Path, tests: str) -> str | None:
    """Name of the first test that fails against the copy of the library; None where all pass."""
    environment = os.environ | {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", tests, "-x", "-q", "-rf", "--no-header", "--tb=no"]
    ended = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True)
    if ended.returncode == 0:
        return None
    failed = [line for line in ended.stdout.splitlines() if line.startswith("FAILED")]
    if ended.returncode != 1 or not failed:
        sys.exit(f"the tests could not be run:\n{ended.stdout}{ended.stderr}")
    return failed[0].split("::", 1)[1].split(" - ")[0]


def main() -> None:
    """Print which test misses which bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="bounds by name")
    asked = parser.parse_args()
    bounds = [bound for bound in BOUNDS if asked.only is None or bound.name in asked.only]
    missed = []
    for bound in bounds:
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(LIBRARY, Path(place) / "pts3h")
            without(bound, Path(place))
            failed = first_failure(Path(place), bound.tests)
        print(f"{bound.name:<30} {(failed or 'NO TEST MISSES IT')[:78]}", flush=True)
        if failed is None:
            missed.append(bound.name)
    print(f"{len(bounds)} bounds taken out in turn, {len(bounds) - len(missed)} missed by a test")
    if missed:
        sys.exit(f"no test fails without: {', '.join(missed)}")


if __name__ == "__main__":
    main()
