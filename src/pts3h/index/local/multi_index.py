"""All rows within a small radius without scanning all rows: exact multi-index hashing.

Cut the code into m windows of bits. Two codes that differ in at most r bits differ in at most r // m bits of
some window. So it is enough to look up the rows that agree with the query in some window after flipping up to
that many of its bits. With r < m no bit is flipped, and r + 1 windows are enough.

Codes of two parts are cut where the bits count most: a distance of r by "both" leaves at most r // weight
bits of meaning that differ. The windows of meaning are the same by "meaning" and by "both", so these share
their tables.
"""

import math
import threading
import time
from functools import cached_property

from ... import kernel
from ...codes import By, Codes, Layout
from ...kernel.types import Allowed, Columns, Found

# Fewer rows than this are scanned more quickly than a lookup can start.
SMALLEST = 20_000
# Seconds to group one row by one window. Only used to decide when building the tables pays off.
SECONDS_TO_GROUP = 2e-8
# A scan is always quicker than lookups of more than this share of the rows.
MOST_LOOKUPS = 1 / 64
MOST_WINDOWS = 64  # the kernel's limit
# Rows that a query may look at where memory is bounded.
FEW_ROWS = 65_536
SAMPLE = 8
TRIES = 3
AGAIN = 10  # times the seconds of scanning so far, until lookups that lost are tried again


class Tables:
    """Rows grouped by windows of their bits, made when they are first asked for."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._made: dict[tuple[int, int], kernel.GroupedRows] = {}
        self._lock = threading.Lock()

    def missing(self, windows: list[tuple[int, int]]) -> int:
        """How many of these windows have no table yet."""
        return sum(window not in self._made for window in windows)

    def of(self, windows: list[tuple[int, int]]) -> list[kernel.GroupedRows]:
        """The tables of windows, each given by its first bit and its width."""
        with self._lock:
            for window in windows:
                if window not in self._made:
                    self._made[window] = kernel.group(self.columns, *window)
            return [self._made[window] for window in windows]


class RadiusSearch:
    """All rows within a radius, by a scan or by lookups, whichever was measured to be faster here."""

    def __init__(self, layout: Layout, tables: Tables, by: By = "both") -> None:
        self.layout, self.by = layout, by
        self.tables, self.columns = tables, tables.columns
        self._by_lookups: set[int] = set()  # radii for which lookups have won
        self._scan_seconds = 0.0
        self._race_at: dict[int, float] = {}  # seconds of scanning before a radius that has lost races again

    @cached_property
    def _region(self) -> range:
        """The bits that windows are cut from; a byte that holds both parts is left out."""
        if not self.layout.look:
            return range(self.layout.bits)
        if self.by == "look":
            return range(-(-self.layout.meaning // 8) * 8, self.layout.bits)
        return range(self.layout.meaning // 8 * 8)

    @cached_property
    def _width(self) -> int:
        """Bits per window: about as many values as rows, so that a lookup finds about one row."""
        n = self.columns.shape[1]
        return min(int(math.log2(max(2, n))), 24, len(self._region))

    @cached_property
    def _windows(self) -> list[tuple[int, int]]:
        """First bit and width of each window."""
        count = min(MOST_WINDOWS, max(1, round(len(self._region) / self._width)))
        spacing = len(self._region) // count
        return [(first, min(self._width, spacing)) for first in self._region[: count * spacing : spacing]]

    def budgets(self, radius: int) -> list[int]:
        """How many bits may differ in each window, for the windows that must be searched."""
        most = radius // (1 if self.by == "look" else self.layout.weights(self.by)[0])
        whole, rest = divmod(most, len(self._windows))
        return [whole] * (rest + 1) + [whole - 1] * ((len(self._windows) - rest - 1) if whole else 0)

    def _probes(self, radius: int) -> float:
        width = self._windows[0][1]
        return sum(math.comb(width, size) for budget in self.budgets(radius) for size in range(budget + 1))

    def can_look_up(self, radius: int) -> bool:
        """Whether there is something to look up, and it could be quicker than a scan."""
        n = int(self.columns.shape[1])
        if not kernel.compiled() or n < SMALLEST or not self._region:
            return False
        return self._probes(radius) <= n * MOST_LOOKUPS

    def looks_up(self, radius: int) -> bool:
        """Whether lookups have won for this radius."""
        return radius in self._by_lookups

    def within(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        """All rows within ``radius`` of each query, by (distance, row)."""
        if self.looks_up(radius):
            return self.look_up(queries, radius, allowed)
        if not len(queries) or not self.can_look_up(radius):
            return self._scan(queries, radius, allowed)
        sample, rest = queries[:SAMPLE], queries[SAMPLE:]
        start = time.perf_counter()
        found = self._scan(sample, radius, allowed)
        seconds = time.perf_counter() - start
        if self._race(sample, radius, allowed, seconds, len(queries)):
            return Found.joined([found, self.look_up(rest, radius, allowed)])
        return Found.joined([found, self._scan(rest, radius, allowed)])

    def few_within(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found | None:
        """The same, if lookups are known to be quicker and each query looks at few rows; else None."""
        if not self.looks_up(radius):
            return None
        return self._look_up(queries, radius, allowed, FEW_ROWS)

    def scanned(self, queries: Codes, radius: int, allowed: Allowed | None, seconds: float) -> None:
        """Told how long somebody else's scan took, lookups race against it once that pays."""
        if len(queries) and not self.looks_up(radius) and self.can_look_up(radius):
            sample = queries[:SAMPLE]
            share = seconds * len(sample) / len(queries)
            self._race(sample, radius, allowed, share, len(queries), FEW_ROWS)

    def _race(
        self,
        sample: Codes,
        radius: int,
        allowed: Allowed | None,
        seconds: float,
        queries: int,
        most: int | None = None,
    ) -> bool:
        """Whether lookups beat a scan that took so long for the sample of so many queries."""
        self._scan_seconds += seconds
        expected = self._scan_seconds + seconds * (queries / len(sample) - 1)
        won = expected >= self._pays_after(radius) and self._lookups_win(
            sample, radius, allowed, seconds, most
        )
        if won:
            self._by_lookups.add(radius)
        else:
            self._scan_seconds = expected
        return won

    def _scan(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        return kernel.within(self.layout, queries, self.columns, radius, by=self.by, allowed=allowed)

    def _pays_after(self, radius: int) -> float:
        """Seconds of scanning after which it is worth while to try lookups."""
        missing = self.tables.missing(self._windows[: len(self.budgets(radius))])
        to_group = missing * int(self.columns.shape[1]) * SECONDS_TO_GROUP
        return max(to_group, self._race_at.get(radius, 0.0))

    def _lookups_win(
        self, sample: Codes, radius: int, allowed: Allowed | None, scan_seconds: float, most: int | None
    ) -> bool:
        """Whether lookups are quicker than a scan that took so long.

        On a busy machine a moment of somebody else's may fall into any measurement. So the best of several
        counts, and lookups that lose may try again later: a scan of a large index takes hundreds of times as
        long as they do.
        """
        # once to make the tables and warm up, as the scan has
        tries = TRIES if self._look_up(sample, radius, allowed, most) is not None else 0
        for _ in range(tries):
            start = time.perf_counter()
            self._look_up(sample, radius, allowed, most)
            if time.perf_counter() - start < scan_seconds:
                return True
        self._race_at[radius] = AGAIN * self._scan_seconds
        return False

    def look_up(self, queries: Codes, radius: int, allowed: Allowed | None) -> Found:
        """All rows within the radius by lookups alone; tables that are missing are made first."""
        found = self._look_up(queries, radius, allowed)
        assert found is not None  # without a bound
        return found

    def _look_up(
        self, queries: Codes, radius: int, allowed: Allowed | None, most: int | None = None
    ) -> Found | None:
        if not len(queries):
            return Found.nothing(0)
        budgets = self.budgets(radius)
        parts = list(zip(self.tables.of(self._windows[: len(budgets)]), budgets, strict=True))
        return kernel.look_up(
            self.layout, queries, self.columns, radius, parts, by=self.by, allowed=allowed, most=most
        )
