"""What the compiled kernel is given is checked at its own door: wrong sizes are refused, not read beyond."""

import numpy as np
import pytest

from pts3h import kernel
from pts3h.codes import Layout, as_words
from pts3h.kernel.measure import measure

from .test_kernel import LEVELS, as_pairs, make, native, oracle_distances, oracle_nearest, oracle_within

_kernel = native._kernel
N, Q = 300, 3
ZEROS = np.zeros(8 * 10_000, np.uint8)
HOW = measure(Layout(100))[1]  # two words


def words(count):
    return np.zeros(count, np.uint64)


def small(count):
    return np.zeros(count, np.uint32)


def misaligned(count):
    return ZEROS[1 : 1 + 8 * count]


NEAREST = {
    "level": LEVELS[0],
    "measure": HOW,
    "queries": words(2 * Q),
    "columns": words(2 * N),
    "stride": N,
    "begin": 0,
    "end": N,
    "k": 5,
    "allowed": None,
    "weights": None,
}
WITHIN = {name: value for name, value in NEAREST.items() if name not in ("k", "allowed", "weights")}
WITHIN |= {"radius": 3, "allowed": None}
HISTOGRAMS = {
    "level": LEVELS[0],
    "measure": HOW,
    "queries": words(2 * Q),
    "columns": words(2 * N),
    "stride": N,
    "n": N,
    "kind": 0,
    "relevance": np.zeros(Q * N, np.uint8),
    "labels": None,
    "width": 0,
    "out": words(Q * 2 * 101),
}
GROUP = {"columns": words(2 * N), "stride": N, "n": N, "first": 0, "width": 4, "starts": small(17)}
GROUP |= {"rows": small(N)}
PART = (0, 4, 1, 0, small(17), small(N))
LOOKUP = {
    "level": LEVELS[0],
    "measure": HOW,
    "queries": words(2 * Q),
    "columns": words(2 * N),
    "n": N,
    "radius": 3,
    "parts": (PART,),
    "flips": small(5),
    "most": 10,
    "may_scan": True,
    "allowed": None,
}

SCANS = [  # what every call over queries and columns refuses
    {"measure": (0, 1, 1, words(2))},
    {"measure": (-1, 1, 1, words(2))},
    {"measure": (40_000, 1, 1, words(2))},
    {"measure": (100, 1, 1, words(0))},
    {"measure": (100, 1, 1, words(65))},
    {"measure": (100, 17, 1, words(2))},
    {"measure": (100, 1, 2**32 - 1, words(2))},
    {"queries": words(2 * Q + 1)},
    {"queries": misaligned(2 * Q)},
    {"columns": words(2 * N - 1)},
    {"columns": words(0)},
    {"columns": misaligned(2 * N)},
]
RANGES = [
    {"stride": N + 1},
    {"stride": -1},
    {"stride": 2**32},
    {"stride": 2**62},
    {"begin": -1},
    {"end": N + 1},
    {"begin": 5, "end": 4},
    {"allowed": np.zeros(N - 1, bool)},
]
WRONG = {
    "nearest": [
        *SCANS,
        *RANGES,
        {"k": 0},
        {"k": -1},
        {"weights": small(N - 1)},
        {"weights": ZEROS[1 : 1 + 4 * N]},
    ],
    "within": [*SCANS, *RANGES, {"radius": -1}],
    "histograms": [
        *SCANS,
        {"n": N + 1},
        {"n": -1},
        {"stride": 2**32},
        {"kind": 3},
        {"kind": -1},
        {"relevance": np.zeros(Q * N - 1, np.uint8)},
        {"kind": 1, "relevance": words(2 * Q - 1)},
        {"kind": 1, "relevance": misaligned(2 * Q)},
        {"kind": 2, "relevance": words(Q), "width": 1, "labels": words(N - 1)},
        {"kind": 2, "relevance": words(Q - 1), "width": 1, "labels": words(N)},
        {"kind": 2, "relevance": words(Q), "width": 1},
        {"kind": 2, "relevance": words(Q), "width": -1, "labels": words(N)},
        {"out": words(Q * 2 * 101 - 1)},
        {"out": misaligned(Q * 2 * 101)},
    ],
    "group": [
        {"columns": words(0)},
        {"columns": words(N - 1)},
        {"columns": misaligned(2 * N)},
        {"stride": 2**32},
        {"stride": 2**61},
        {"stride": 2**62, "n": 0},
        {"n": N + 1},
        {"n": -1},
        {"first": -1},
        {"first": 125},
        {"first": 2**63 - 1},
        {"width": 0},
        {"width": 32},
        {"width": 5},
        {"starts": small(16)},
        {"rows": small(N - 1)},
    ],
    "lookup": [
        *SCANS,
        {"n": N + 1},
        {"n": 2**32},
        {"radius": -1},
        {"allowed": np.zeros(N - 1, bool)},
        {"parts": ("something else",)},
        {"parts": (PART,) * 65},
        {"parts": ((125, *PART[1:]),)},
        {"parts": ((-1, *PART[1:]),)},
        {"parts": ((0, 40, *PART[2:]),)},
        {"parts": ((0, 4, 6, *PART[3:]),)},
        {"parts": ((0, 4, -1, *PART[3:]),)},
        {"parts": ((*PART[:4], small(16), PART[5]),)},
        {"parts": ((*PART[:5], small(N - 1)),)},
        {"flips": np.full(5, 16, np.uint32)},
    ],
}
RIGHT = {"nearest": NEAREST, "within": WITHIN, "histograms": HISTOGRAMS, "group": GROUP, "lookup": LOOKUP}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_accepted(name):
    getattr(_kernel, name)(*RIGHT[name].values())


def test_no_rows_are_grouped_by_any_window():
    _kernel.group(
        *(GROUP | {"columns": words(0), "stride": 0, "n": 0, "first": 90, "rows": small(0)}).values()
    )


@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name, cases in WRONG.items() for wrong in cases], ids=str
)
def test_what_is_wrong_is_refused(name, wrong):
    with pytest.raises(ValueError, match="kernel"):
        getattr(_kernel, name)(*(RIGHT[name] | wrong).values())


@pytest.mark.parametrize("level", LEVELS)
def test_a_radius_beyond_the_bits_and_bits_beyond_the_code_stay_inside(level):
    """Padding bits that are set make distances larger than there can be: such rows are not found."""
    how = measure(Layout(12))[1]
    columns, query = words(N)[None], words(1)[None]
    columns[0, ::2] = 2**64 - 1
    found = native.within(how, query, columns, 10_000, None, level)
    assert found.rows.tolist() == list(range(1, N, 2)) and not found.distances.any()
    found = native.nearest(how, query, columns, N, None, None, level)
    assert found.rows.tolist() == list(range(1, N, 2))
    every = kernel.types.Relevance(0, np.ones((1, N), np.uint8), None)
    counts = native.histograms(how, query, columns, every, level)
    assert counts[0, 1].tolist() == [N // 2] + [0] * 12 and not counts[0, 0].any()


@pytest.mark.parametrize("level", LEVELS)
def test_weights_of_more_items_than_32_bits_count(level):
    codes = make(np.random.default_rng(0), 50, 12)
    many = np.full(50, 2**32 - 1, np.uint32)
    for k in (1, 2**32, 2**40, 2**62):
        found = native.nearest(
            measure(Layout(12))[1], as_words(codes[:1]), kernel.columns_of(codes), k, None, many, level
        )
        near = np.sort(oracle_distances(codes[:1], codes)[0])
        last = near[min(-(-k // (2**32 - 1)), 50) - 1]
        assert found.distances.tolist() == near[near <= last].tolist()


def test_groups_that_name_rows_which_are_not_there_find_nothing_there():
    rows = np.full(N, 2**32 - 1, np.uint32)
    for starts in (np.full(17, N, np.uint32), np.arange(17, dtype=np.uint32) * 2**27, small(17)):
        starts[0] = 0
        raw = _kernel.lookup(*(LOOKUP | {"parts": ((0, 4, 1, 0, starts, rows),), "most": 2**40}).values())
        assert raw[1] == b""


def test_a_query_that_may_not_scan_says_that_it_would_have_to():
    rows, starts = np.arange(N, dtype=np.uint32), np.full(17, N, np.uint32)
    starts[0] = 0  # all rows are in the first group
    asked = LOOKUP | {"parts": ((0, 4, 1, 0, starts, rows),), "may_scan": False}
    assert _kernel.lookup(*(asked | {"most": N - 1}).values()) is None
    assert _kernel.lookup(*(asked | {"most": N}).values()) is not None


@pytest.mark.parametrize("offset", range(8))
def test_codes_that_do_not_begin_at_a_whole_word(offset):
    codes, queries = make(np.random.default_rng(1), N, 64), make(np.random.default_rng(2), Q, 64)
    near = oracle_distances(queries, codes)
    raw = np.zeros(8 * Q + 8, np.uint8)
    raw[offset : offset + 8 * Q] = queries.ravel()
    moved = np.frombuffer(raw.tobytes(), np.uint8, 8 * Q, offset).reshape(Q, 8)
    assert as_words(moved).flags.aligned
    layout, columns = Layout(64), kernel.columns_of(codes)
    assert as_pairs(kernel.nearest(layout, moved, columns, 5)) == oracle_nearest(near, 5)
    assert as_pairs(kernel.within(layout, moved, columns, 20)) == oracle_within(near, 20)


@pytest.mark.parametrize("compiled", [True, False])
def test_more_neighbours_than_64_bits_can_count(compiled, monkeypatch):
    monkeypatch.setattr(kernel, "compiled", lambda: compiled)
    codes = make(np.random.default_rng(3), 40, 12)
    near = oracle_distances(codes[:2], codes)
    for weights in (None, np.ones(40, np.uint32)):
        found = kernel.nearest(Layout(12), codes[:2], kernel.columns_of(codes), 2**70, weights=weights)
        assert as_pairs(found) == oracle_nearest(near, 40)
