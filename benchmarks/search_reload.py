"""Open an index of a million codes: time, memory and disk an item, against reading a faiss file.

python benchmarks/search_reload.py [--n 1000000] [--text]
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

# Each in a process of its own: what was imported before and what was freed do not count.
LOCAL = """
    import time, sys, numpy as np
    from pts3h import kernel, open_index
    from pts3h.codes import Layout
    from pts3h.index import local
    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096
    kernel.nearest(Layout(64), np.zeros((1, 8), np.uint8), np.zeros((1, 9), np.uint64), 1)
    query = np.zeros((1, 8), np.uint8)
    before, start = resident(), time.perf_counter()
    index = open_index(sys.argv[1])
    n = index.count
    opened = time.perf_counter() - start
    index.search(query, 10)
    searched, memory = time.perf_counter() - start, resident() - before
    queries = np.random.default_rng(0).integers(0, 256, (10_000, 8), np.uint8)
    index.within(queries, 2)
    del queries
    print(f"open {1e3 * opened:8.1f} ms, first answer after {1e3 * searched:8.1f} ms, "
          f"memory {memory / n:5.1f} bytes per item, {(resident() - before) / n:5.1f} with radius tables")
"""
FAISS = """
    import time, sys, faiss
    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096
    before, start = resident(), time.perf_counter()
    index = faiss.read_index_binary(sys.argv[1])
    opened = time.perf_counter() - start
    print(f"open {1e3 * opened:8.1f} ms, memory {(resident() - before) / index.ntotal:5.1f} bytes per item")
"""


def run(code: str, path: Path) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    import faiss

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--text", action="store_true", help="ids such as images/class042/00001234.jpg")
    arguments = parser.parse_args()
    n = arguments.n
    rng = np.random.default_rng(0)
    numbers, codes = rng.permutation(4 * n)[:n], rng.integers(0, 256, (n, 8), np.uint8)
    names = [f"images/class{one % 100:03d}/{one:08d}.jpg" for one in numbers.tolist()]
    ids = names if arguments.text else numbers.tolist()
    with tempfile.TemporaryDirectory() as place:
        folder, file = Path(place) / "index", Path(place) / "faiss"
        with open_index(folder, 64) as index:
            for start in range(0, n, 50_000):
                index.add(ids[start : start + 50_000], codes[start : start + 50_000])
        plain = faiss.IndexBinaryIDMap2(faiss.IndexBinaryFlat(64))
        plain.add_with_ids(codes, numbers)
        faiss.write_index_binary(plain, str(file))
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{n:,} x 64 bits, {'text' if arguments.text else 'integer'} ids")
        print(f"  pts3h on disk {size / n:5.1f} bytes per item, faiss {file.stat().st_size / n:5.1f}")
        for _ in range(3):
            print(f"  pts3h             {run(LOCAL, folder)}")
        (folder / "search.cache").unlink()
        print(f"  pts3h, no cache   {run(LOCAL, folder)}")
        print(f"  faiss with ids    {run(FAISS, file)}")


if __name__ == "__main__":
    main()
