"""All rows within a small radius without scanning all rows: exact multi-index hashing.

Cut the code into m windows of bits. Two codes that differ in at most r bits differ in at most r // m bits of
some window. So it is enough to look up the rows that agree with the query in some window after flipping up to
that many of its bits. With r < m no bit is flipped, and r + 1 windows are enough.
"""

import math
import threading
import time
from functools import cached_property

from ... import kernel
from ...codes import Codes, as_words
from ...kernel.types import Allowed, Columns, Found

# Fewer rows than this are scanned more quickly than a lookup can start.
SMALLEST = 20_000
# Seconds to group one row by one window. Only used to decide when building the tables pays off.
SECONDS_TO_GROUP = 2e-8
# A scan is always quicker than lookups of more than this share of the rows.
MOST_LOOKUPS = 1 / 64
MOST_WINDOWS = 64  # the kernel's limit
SAMPLE = 8


class RadiusSearch:
    """All rows within a radius, by a scan or by lookups, whichever was measured to be faster here."""

    def __init__(self, bits: int, columns: Columns) -> None:
        self.bits = bits
        self.columns = columns
        self._parts: list[kernel.GroupedRows] = []
        self._lookups_win: dict[int, bool] = {}
        self._scan_seconds = 0.0
        self._lock = threading.Lock()

    @cached_property
    def _width(self) -> int:
        """Bits per window: about as many values as rows, so that a lookup finds about one row."""
        n = self.columns.shape[1]
        return min(int(math.log2(max(2, n))), 24, self.bits)

    @cached_property
    def _windows(self) -> int:
        return min(MOST_WINDOWS, max(1, round(self.bits / self._width)))

    def budgets(self, radius: int) -> list[int]:
        """How many bits may differ in each window, for the windows that must be searched."""
        whole, rest = divmod(radius, self._windows)
        return [whole] * (rest + 1) + [whole - 1] * ((self._windows - rest - 1) if whole else 0)

    def _probes(self, radius: int) -> float:
        width = min(self._width, self.bits // self._windows)
        return sum(math.comb(width, size) for budget in self.budgets(radius) for size in range(budget + 1))

    def within(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        """All rows within ``radius`` of each query, by (distance, row)."""
        n = self.columns.shape[1]
        if not kernel.compiled() or n < SMALLEST or self._probes(radius) > n * MOST_LOOKUPS:
            return kernel.within(self.bits, queries, self.columns, radius, allowed=allowed)
        if radius not in self._lookups_win:
            return self._measure(queries, radius, allowed)
        if self._lookups_win[radius]:
            return self.look_up(queries, radius, allowed)
        return kernel.within(self.bits, queries, self.columns, radius, allowed=allowed)

    def _measure(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        """Scan for a few queries; once tables would have paid for themselves, time them against the scan."""
        sample = queries[:SAMPLE]
        start = time.perf_counter()
        found = kernel.within(self.bits, sample, self.columns, radius, allowed=allowed)
        scan_seconds = time.perf_counter() - start
        self._scan_seconds += scan_seconds
        missing = max(0, len(self.budgets(radius)) - len(self._parts))
        rest = queries[SAMPLE:]
        expected = self._scan_seconds + scan_seconds * len(rest) / max(1, len(sample))
        if len(sample) and expected >= missing * self.columns.shape[1] * SECONDS_TO_GROUP:
            self._tables(len(self.budgets(radius)))
            self.look_up(sample, radius, allowed)  # to warm up, as the scan has
            start = time.perf_counter()
            self.look_up(sample, radius, allowed)
            self._lookups_win[radius] = time.perf_counter() - start < scan_seconds
            more = self.within(rest, radius, allowed)
        else:
            more = kernel.within(self.bits, rest, self.columns, radius, allowed=allowed)
            self._scan_seconds = expected
        return found.then(more)

    def _tables(self, count: int) -> None:
        with self._lock:
            spacing = self.bits // self._windows
            while len(self._parts) < count:
                first = len(self._parts) * spacing
                self._parts.append(kernel.group(self.columns, first, min(self._width, spacing)))

    def look_up(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        """All rows within the radius by lookups alone; tables that are missing are built first."""
        budgets = self.budgets(radius)
        self._tables(len(budgets))
        if not len(queries):
            return Found.nothing(0)
        parts = list(zip(self._parts, budgets, strict=False))
        return kernel.look_up(self.bits, as_words(queries), self.columns, radius, parts, allowed)
