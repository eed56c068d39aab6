"""The shape of the code: no file over 350 lines, no block of six lines written twice in the library.

    python tools/check_shape.py

Blank lines, comments, imports and lone punctuation do not count for blocks.
"""

import re
import sys
from pathlib import Path

MOST_LINES, BLOCK = 350, 6
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


def long_files(folders: list[Path], most: int) -> list[str]:
    """Files that hold more than one idea, or one that wants a better shape."""
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    sizes = {path: len(path.read_text().splitlines()) for path in files}
    return [f"{path} has {size} lines, {most} at most" for path, size in sizes.items() if size > most]


if __name__ == "__main__":
    project = Path(__file__).parents[1]
    folders = [project / name for name in ("src", "tests", "benchmarks", "tools")]
    wrong = long_files(folders, MOST_LINES) + repeats(project / "src", BLOCK)
    print("\n".join(wrong) or "every file is short, and no block is written twice")
    sys.exit(1 if wrong else 0)
