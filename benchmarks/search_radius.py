"""Everything within radius 2 among a million codes of 64 bits: lookups against scans, one thread each.

python benchmarks/search_radius.py [--n 1000000] [--radius 2]
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

from timing import race, show  # isort: skip

import faiss
import numpy as np

from pts3h import kernel, open_index
from pts3h.codes import Layout
from pts3h.index.local.multi_index import RadiusSearch, Tables

BITS = 64
LAYOUT = Layout(BITS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--radius", type=int, default=2)
    arguments = parser.parse_args()
    n, radius = arguments.n, arguments.radius
    faiss.omp_set_num_threads(1)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (n, 8), np.uint8)
    # Queries a bit or two away from something, so that there is something to find.
    many = codes[rng.permutation(n)[:10_000]] ^ np.packbits(rng.random((10_000, BITS)) < 0.02, axis=1)
    few = many[:100]

    columns = kernel.columns_of(codes)
    tables = RadiusSearch(LAYOUT, Tables(columns))
    by_lookup, by_scan = tables.look_up(few, radius, None), kernel.within(LAYOUT, few, columns, radius)
    same = np.array_equal(by_lookup.rows, by_scan.rows) and np.array_equal(by_lookup.counts, by_scan.counts)
    print(f"lookups find what the scan finds: {same}, {by_scan.counts.sum()} hits of {len(few)} queries")

    flat, hashed = faiss.IndexBinaryFlat(BITS), faiss.IndexBinaryMultiHash(BITS, 3, 21)
    for index in (flat, hashed):
        index.add(codes)
    hashed.nflip = 0
    with tempfile.TemporaryDirectory() as place, open_index(Path(place) / "index", BITS) as engine:
        engine.add(range(n), codes)
        engine.within(many, radius)
        per_query = {
            name: seconds / queries
            for name, side, queries in (
                ("kernel, scan", partial(kernel.within, LAYOUT, few, columns, radius), len(few)),
                ("kernel, lookups", partial(tables.look_up, many, radius, None), len(many)),
                ("index.within, 10,000 at once", partial(engine.within, many, radius), len(many)),
                ("index.within, one query", partial(engine.within, many[:1], radius), 1),
                ("kernel, scan, one query", partial(kernel.within, LAYOUT, few[:1], columns, radius), 1),
                ("faiss IndexBinaryFlat", partial(flat.range_search, few, radius + 1), len(few)),
                ("faiss IndexBinaryMultiHash", partial(hashed.range_search, many, radius + 1), len(many)),
            )
            for seconds in race({name: side}, seconds=3).values()
        }
    show(f"{n:,} x {BITS} bits, radius {radius}, per query", per_query, "kernel, lookups")
    scan = per_query["kernel, scan"]
    print(f"  scan / lookups, in the kernel:       {scan / per_query['kernel, lookups']:7.0f}x")
    print(f"  scan / lookups, through the index:   {scan / per_query['index.within, 10,000 at once']:7.0f}x")


if __name__ == "__main__":
    main()
