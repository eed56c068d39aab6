"""What the page of a fit costs beside encoding the same items.

python benchmarks/report_page.py
"""

from timing import race  # isort: skip

import tempfile
from pathlib import Path

import numpy as np

from pts3h import Hasher
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.report import write_report

VECTORS, WIDTH, LABELLED = 1_000_000, 64, 5_000


def main() -> None:
    rng = np.random.default_rng(0)
    items = read_items(rng.normal(size=(VECTORS, WIDTH)).astype(np.float32))
    labels = np.where(np.arange(VECTORS) < LABELLED, rng.integers(0, 10, VECTORS), -1)
    model = Hasher(bits=64, steps=50).fit(items, labels=labels, progress=False).model
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        known = LabelPairs(labels)
        best = race(
            {
                "encoding": lambda: model.encode(items),
                "page": lambda: write_report(model, items, page, known=known),
            }
        )
        size = page.stat().st_size / 1000
    print(f"{VECTORS:,} vectors: encoding {best['encoding']:.1f} s, page {best['page']:.1f} s, {size:.0f} KB")
    print(f"ratio {best['page'] / best['encoding']:.2f}x")


if __name__ == "__main__":
    main()
