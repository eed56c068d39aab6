"""Export an index of many items to each format, and import it again: processor time, peak memory, size.

python benchmarks/exchange.py [--n 1000000]
"""

import argparse
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import timing  # noqa: F401  isort: skip

import numpy as np

from pts3h import open_index

FILES = ("items.parquet", "items.faiss", "items.sqlite", "items.npy")
BATCH = 100_000
# Each in a process of its own, so that its peak is its own.
MOVE = """
    import re, sys, time
    from pathlib import Path
    import pts3h
    what, index, file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if what == "open":
        with pts3h.open_index(index, read_only=True) as opened:
            opened.count
    elif what == "export":
        pts3h.export_index(index, file)
    else:
        pts3h.import_index(file, index)
    # not ru_maxrss, which begins with that of the process that started this one
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
    print(time.process_time(), int(peak[1]) / 1024)
"""


def run(what: str, index: Path, file: Path) -> tuple[float, float]:
    """Processor time in seconds and peak memory in MB."""
    command = [sys.executable, "-c", textwrap.dedent(MOVE), what, str(index), str(file)]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    count = parser.parse_args().n
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_index(folder / "items.index", 64) as index:
            for start in range(0, count, BATCH):
                numbers = range(start, min(start + BATCH, count))
                codes = rng.integers(0, 256, (len(numbers), 8), np.uint8)
                meta = [{"price": number % 100} for number in numbers]
                index.add([f"photos/{number:08}.jpg" for number in numbers], codes, meta)
        _, opened = run("open", folder / "items.index", folder)
        print(f"{count:,} codes of 64 bits, text ids, one number of metadata; open: peak {opened:.0f} MB")
        for file in FILES:
            out, peak = run("export", folder / "items.index", folder / file)
            back, high = run("import", folder / f"{file}.index", folder / file)
            size = sum(path.stat().st_size for path in folder.glob(f"{Path(file).stem}.*") if path.is_file())
            print(
                f"{file:<14} export {1e6 * out / count:5.1f} us per item, peak {peak:4.0f} MB; "
                f"import {1e6 * back / count:5.1f} us, peak {high:4.0f} MB; {size / count:5.1f} bytes on disk"
            )
            for path in folder.glob("items.*"):
                if path.is_file():
                    path.unlink()


if __name__ == "__main__":
    main()
