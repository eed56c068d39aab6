"""An index says whether a search would be over in a moment, and waits for nobody to say so."""

import threading

import numpy as np
import pytest

import pts3h
from pts3h import kernel
from pts3h.index.local import index as engine
from pts3h.index.local import multi_index

BITS, N = 64, 300


@pytest.fixture
def index(tmp_path):
    codes = np.random.default_rng(0).integers(0, 256, (N, BITS // 8), np.uint8)
    with pts3h.open_index(tmp_path / "index", BITS) as made:
        made.add(range(N), codes)
        yield made


def in_another_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join(60)
    return found[0]


def search(index, **asked):
    code = next(index.scan())[1][:1]
    return index.search(code, 5, **asked)


def test_after_the_first_search_until_someone_writes(index, tmp_path):
    """What has to be read first is not at hand, and it is known by whom it was written."""
    assert not index.at_hand()
    search(index)
    assert index.at_hand()
    with pts3h.open_index(tmp_path / "index") as other:
        other.add([N], np.zeros((1, BITS // 8), np.uint8))
    assert not index.at_hand()
    search(index)
    assert index.at_hand()
    index.remove([0])
    assert not index.at_hand()


def test_what_was_never_searched_by_is_not(tmp_path):
    """The bits of look alone need a preparation of their own."""
    codes = np.random.default_rng(0).integers(0, 256, (N, 16), np.uint8)
    with pts3h.open_index(tmp_path / "index", 64, look_bits=64) as index:
        index.add(range(N), codes)
        index.search(codes[:1], 5, by="meaning")
        assert index.at_hand(by="meaning") and not index.at_hand(by="look") and not index.at_hand()


def test_not_if_there_is_much_to_look_through(index, monkeypatch):
    """The bytes of all codes count, once for each query."""
    search(index)
    monkeypatch.setattr(engine, "MOMENT_BYTES", 3 * N * BITS // 8)
    assert index.at_hand(3) and not index.at_hand(4)


def test_a_closed_one_is_not(index):
    search(index)
    index.close()
    assert not index.at_hand()


@pytest.mark.parametrize("held", ["_lock", "_store.lock", "_turns"])
def test_it_waits_for_nobody(index, held):
    """Somebody catches up, or reads, or all places are taken: that may take long, and the answer is no."""
    search(index)
    place = index
    for name in held.split("."):
        place = getattr(place, name)
    if held == "_turns":
        while place.free:
            place.__enter__()
        assert not in_another_thread(index.at_hand)
    else:
        with place:
            assert not in_another_thread(index.at_hand)
        assert in_another_thread(index.at_hand)


@pytest.mark.skipif(not kernel.compiled(), reason="lookups need the kernel")
def test_a_radius_is_once_lookups_have_won(index, monkeypatch):
    """Until then, a search may measure, and make tables first."""
    monkeypatch.setattr(multi_index, "SMALLEST", 1)
    monkeypatch.setattr(multi_index, "MOST_LOOKUPS", 1.0)
    search(index)
    assert index.at_hand() and not index.at_hand(radius=2)
    (one,) = index._snapshot.parts[0].segment._searches.values()
    one._by_lookups.add(2)
    assert index.at_hand(radius=2)
    monkeypatch.setattr(engine, "LOOKUP_BYTES", N * BITS // 8 - 1)
    assert not index.at_hand(radius=2)  # a query with too many rows would look through all codes


def test_a_radius_that_is_never_looked_up_is_a_scan(index):
    """So few items are always looked through."""
    search(index)
    assert index.at_hand(radius=2)
