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
        assert list(search._lookups_win) == [2]


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
    assert not search._region and not search._can_look_up(0)
