"""Print which share of the library's lines and branches the last measured run of the tests took.

    python tools/coverage_table.py .coverage/report.json

The file is what ``coverage json`` wrote. A room is a folder, or one file, of ``src/pts3h``. It fails below
the shares that the project promises.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePath
from typing import NamedTuple, Self

LINES, BRANCHES = 95.0, 90.0  # % of the whole library


class Share(NamedTuple):
    """Lines and branches that were taken, of how many."""

    lines: int = 0
    all_lines: int = 0
    branches: int = 0
    all_branches: int = 0

    def plus(self, other: Self) -> "Share":
        """Both together."""
        return Share(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def line_rate(self) -> float:
        """% of the lines."""
        return 100 * self.lines / max(self.all_lines, 1)

    @property
    def branch_rate(self) -> float:
        """% of the branches; all of them where there are none."""
        return 100 * self.branches / self.all_branches if self.all_branches else 100.0


def shares(report: Path) -> dict[str, Share]:
    """The share of each room."""
    rooms: defaultdict[str, Share] = defaultdict(Share)
    for name, measured in json.loads(report.read_text())["files"].items():
        parts = PurePath(name).parts
        room = parts[parts.index("pts3h") + 1]
        names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
        share = Share(*(measured["summary"][key] for key in names))
        rooms[room] = rooms[room].plus(share)
    return dict(sorted(rooms.items()))


def row(name: str, share: Share) -> str:
    """A line of the table."""
    lines = f"{share.all_lines:>8,}{share.line_rate:>9.1f} %"
    return f"{name:16}{lines}{share.all_branches:>10,}{share.branch_rate:>9.1f} %"


def main(report: Path) -> None:
    """Print the table."""
    rooms = shares(report)
    total = Share()
    print(f"{'room':16}{'lines':>8}{'taken':>11}{'branches':>10}{'taken':>11}")
    for name, share in rooms.items():
        print(row(name, share))
        total = total.plus(share)
    print(row("all", total))
    if total.line_rate < LINES or total.branch_rate < BRANCHES:
        sys.exit(f"less than {LINES:.0f} % of the lines or {BRANCHES:.0f} % of the branches")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
