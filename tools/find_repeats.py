"""Blocks of lines that are written twice: python tools/find_repeats.py FOLDER [LINES]

Exits 1 if there are any.

Blank lines, comments, imports and lone punctuation do not count.
"""

import re
import sys
from pathlib import Path

QUIET = re.compile(r"^(#|//|from |import |[\[\](){},:\"']*$)")


def blocks(path: Path, size: int) -> dict[str, int]:
    """Every run of ``size`` lines that count, with the line it starts at."""
    lines = [(number, line.strip()) for number, line in enumerate(path.read_text().splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if not QUIET.match(line)]
    return {
        "\n".join(line for _, line in lines[at : at + size]): lines[at][0]
        for at in range(len(lines) - size, -1, -1)
    }


def repeats(folder: Path, size: int) -> list[str]:
    """Where a block stands again."""
    first: dict[str, str] = {}
    found = []
    for path in sorted(p for kind in ("*.py", "*.pyi", "*.c", "*.h") for p in folder.rglob(kind)):
        for block, line in blocks(path, size).items():
            place = f"{path}:{line}"
            if block in first:
                found.append(f"{place} repeats {first[block]}")
            first.setdefault(block, place)
    return found


if __name__ == "__main__":
    again = repeats(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6)
    print("\n".join(again) or "no block is written twice")
    sys.exit(1 if again else 0)
