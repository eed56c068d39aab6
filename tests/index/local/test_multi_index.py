"""Lookups over codes of two parts: what they find, which tables they need, and who shares them."""

import numpy as np
import pytest

from pts3h import kernel
from pts3h.codes import Layout, distances
from pts3h.index.local import multi_index
from pts3h.index.local.multi_index import RadiusSearch, Tables

pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)

N = 3000
LAYOUTS = [Layout(64, 64, 3), Layout(48, 32, 2), Layout(29, 43, 4), Layout(5, 60, 3), Layout(60, 5, 16)]


def near_copies(layout, seed=0):
    """Codes of which half are a few bits away from the other half."""
    rng = np.random.default_rng(seed)
    codes = np.packbits(rng.random((N, layout.bits)) < 0.5, axis=1)
    codes[N // 2 :] = codes[: N // 2] ^ np.packbits(rng.random((N // 2, layout.bits)) < 0.03, axis=1)
    return codes


def oracle(codes, queries, layout, by, radius, allowed=None):
    near = distances(queries, codes, layout, by).astype(int)
    rows = np.arange(N) if allowed is None else np.flatnonzero(allowed)
    return [sorted((int(d[r]), int(r)) for r in rows if d[r] <= radius) for d in near]


def as_pairs(found):
    return [list(zip(near.tolist(), rows.tolist(), strict=True)) for rows, near in found.split()]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("by", ["meaning", "look", "both"])
def test_lookups_agree_with_brute_force(layout, by):
    codes = near_copies(layout)
    search = RadiusSearch(layout, Tables(kernel.columns_of(codes)), by)
    queries, allowed = codes[::211], np.random.default_rng(1).random(N) < 0.5
    for radius in range(min(13, layout.farthest(by))):
        if search._region and search._probes(radius) < 5000:
            for mask in (None, allowed):
                found = as_pairs(search.look_up(queries, radius, mask))
                assert found == oracle(codes, queries, layout, by, radius, mask), radius
        assert as_pairs(search.within(queries, radius, None)) == oracle(codes, queries, layout, by, radius)


def test_it_measures_and_then_chooses(monkeypatch):
    monkeypatch.setattr(multi_index, "SMALLEST", 1)
    monkeypatch.setattr(multi_index, "SECONDS_TO_GROUP", 0.0)
    monkeypatch.setattr(multi_index, "MOST_LOOKUPS", 1.0)
    layout = Layout(64, 64, 3)
    codes = near_copies(layout)
    for by in ("meaning", "look", "both"):
        search = RadiusSearch(layout, Tables(kernel.columns_of(codes)), by)
        for _ in range(2):  # the first call measures
            assert as_pairs(search.within(codes[:50], 2, None)) == oracle(codes, codes[:50], layout, by, 2)
        assert search._by_lookups == {2} or list(search._race_at) == [2]


@pytest.mark.parametrize("few", [multi_index.FEW_ROWS, 0])
def test_somebody_elses_scans_lead_to_lookups_of_few_rows(monkeypatch, few):
    monkeypatch.setattr(multi_index, "SMALLEST", 1)
    monkeypatch.setattr(multi_index, "MOST_LOOKUPS", 1.0)
    monkeypatch.setattr(multi_index, "FEW_ROWS", few)
    layout = Layout(64, 64, 3)
    codes = near_copies(layout)
    search = RadiusSearch(layout, Tables(kernel.columns_of(codes)), "both")
    assert search.few_within(codes[:50], 8, None) is None
    search.scanned(codes[:50], 8, None, 1e-9)  # too quick for any lookup to be worth its tables
    assert search.few_within(codes[:50], 8, None) is None
    search.scanned(codes[:50], 8, None, 1e3)
    found = search.few_within(codes[:50], 8, None)
    if few:
        assert as_pairs(found) == oracle(codes, codes[:50], layout, "both", 8)
        assert [len(pairs) for pairs in as_pairs(found.first(1))] == [1] * 50
    else:
        assert found is None


class TestABusyMachine:
    """Somebody else's moment in a measurement must not make every later search slow."""

    @pytest.fixture
    def timed(self, monkeypatch):
        """A search whose scan takes 1 ms and whose lookups take what ``lookups`` yields, by its own clock."""
        layout, now = Layout(64), [0.0]
        codes = near_copies(layout)
        search = RadiusSearch(layout, Tables(kernel.columns_of(codes)))
        scan, look_up = search._scan, search._look_up
        search.scans, search.lookups = 0, iter([])

        def slow_scan(queries, *rest):
            search.scans += len(queries)
            now[0] += 1e-3 * (len(queries) > 0)
            return scan(queries, *rest)

        def slow_look_up(*given):
            now[0] += next(search.lookups, 1e-6)
            return look_up(*given)

        monkeypatch.setattr(multi_index, "SMALLEST", 1)
        monkeypatch.setattr(multi_index, "MOST_LOOKUPS", 1.0)
        monkeypatch.setattr(multi_index, "SECONDS_TO_GROUP", 0.0)
        monkeypatch.setattr(multi_index.time, "perf_counter", lambda: now[0])
        monkeypatch.setattr(search, "_scan", slow_scan)
        monkeypatch.setattr(search, "_look_up", slow_look_up)
        search.codes = codes
        return search

    def test_one_slow_lookup_is_forgiven(self, timed):
        timed.lookups = iter([1e-6, 1.0, 1.0])  # to warm up, then two of three tries
        timed.within(timed.codes[:8], 2, None)
        assert timed._by_lookups == {2}

    def test_lookups_that_lost_are_tried_again(self, timed):
        timed.lookups = iter([1.0] * 4)
        for _ in range(9):
            timed.within(timed.codes[:8], 2, None)
        assert not timed._by_lookups and timed.scans == 72  # and not before it is worth while
        for _ in range(3):
            timed.within(timed.codes[:8], 2, None)
        assert timed._by_lookups == {2}

    def test_lookups_that_are_slow_stay_out(self, timed):
        timed.lookups = iter([1.0] * 1000)
        for _ in range(100):
            found = timed.within(timed.codes[:20], 2, None)
        assert not timed._by_lookups and len(timed._race_at) == 1
        assert as_pairs(found) == oracle(timed.codes, timed.codes[:20], timed.layout, "both", 2)


def test_both_needs_as_few_tables_as_meaning_and_shares_them(monkeypatch):
    made = []
    group = kernel.group
    monkeypatch.setattr(kernel, "group", lambda *a: made.append(a[1:]) or group(*a))
    layout = Layout(64, 64, 3)
    codes = near_copies(layout)
    tables = Tables(kernel.columns_of(codes))
    both, meaning, look = (RadiusSearch(layout, tables, by) for by in ("both", "meaning", "look"))
    assert both.budgets(2) == [0] and both.budgets(8) == meaning.budgets(2) == [0, 0, 0]
    both.look_up(codes[:1], 8, None)
    windows = list(made)
    assert len(windows) == 3 and all(first + width <= 64 for first, width in windows)
    meaning.look_up(codes[:1], 2, None)
    assert made == windows
    look.look_up(codes[:1], 2, None)
    assert len(made) == 6 and all(first >= 64 for first, _ in made[3:])


def test_a_part_of_less_than_a_byte_has_no_windows():
    layout = Layout(5, 60, 3)
    search = RadiusSearch(layout, Tables(kernel.columns_of(near_copies(layout))), "both")
    assert not search._region and not search.can_look_up(0)
