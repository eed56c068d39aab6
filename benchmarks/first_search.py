"""The first search from the shell: a process starts, opens index and model, encodes a picture, prints hits.

    python benchmarks/first_search.py photos.index query.png --by light/bin/pts3h [--by before/bin/pts3h]

Commands of several environments run in turns. Processor time leaves out the time in which others had the
processor; with several threads it can be more than that on the clock.
"""

import argparse
import os
import statistics
import subprocess
import time


def run(command: list[str]) -> tuple[float, float]:
    """Seconds on the clock, and of processors."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return took, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("query")
    parser.add_argument("--by", action="append", required=True, help="a pts3h to run; several are compared")
    parser.add_argument("--turns", type=int, default=15)
    asked = parser.parse_args()
    commands = {by: [by, "search", asked.index, asked.query] for by in asked.by}
    for command in commands.values():  # what Python compiles and the system reads for the first time
        run(command)
    turns = [{by: run(command) for by, command in commands.items()} for _ in range(asked.turns)]
    for by in commands:
        clock, processors = zip(*(turn[by] for turn in turns), strict=True)
        print(
            f"{by}: best {min(clock):.3f} s, median {statistics.median(clock):.3f} s; "
            f"of processors best {min(processors):.3f} s, median {statistics.median(processors):.3f} s"
        )


if __name__ == "__main__":
    main()
